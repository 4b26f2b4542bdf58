"""How many wrong rows a sample leaves possible. Pure."""

from __future__ import annotations

import math

#: That the true share lies below the bound.
CONFIDENCE = 0.95
_TINY = 1e-300
_MOST_TERMS = 20_000
_HALVINGS = 200


def upper_bound(wrong: int, checked: int, confidence: float = CONFIDENCE) -> float:
    """Return the exact (Clopper-Pearson) one-sided upper bound on the share of wrong ones.

    Of none in n it is ``1 - (1 - confidence) ** (1 / n)``, which the rule of three takes for ``3 / n``.

    Args:
        wrong: How many of the sample are wrong.
        checked: How many it has.
        confidence: How sure it is that the share is no larger.
    """
    if not 0 <= wrong <= checked:
        raise ValueError(f"{wrong} of {checked}")
    rest = 1 - confidence
    if checked == 0 or wrong == checked:
        return 1.0
    if wrong == 0:
        return -math.expm1(math.log(rest) / checked)
    low, high = wrong / checked, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        if share in (low, high):
            break
        # The chance to see so few or fewer falls with the share: 1 - I_share(wrong + 1, checked - wrong).
        low, high = (share, high) if 1 - incomplete_beta(wrong + 1, checked - wrong, share) > rest else (low, share)
    return high


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        # There the fraction of the mirrored function ends sooner.
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            result *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * result


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
