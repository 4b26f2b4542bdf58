"""The upper bound on the share of wrong rows: what a sample leaves possible, exactly, at any size."""

from __future__ import annotations

import math

import pytest

from freshet.audit.bounds import incomplete_beta, upper_bound


def chance_of_at_most(wrong: int, checked: int, share: float) -> float:
    return math.fsum(math.comb(checked, k) * share**k * (1 - share) ** (checked - k) for k in range(wrong + 1))


@pytest.mark.parametrize("checked", [1, 2, 59, 299, 1000])
def test_of_none_it_is_the_rule_of_three_in_its_exact_form(checked: int) -> None:
    assert upper_bound(0, checked) == pytest.approx(1 - 0.05 ** (1 / checked), rel=1e-12)


@pytest.mark.parametrize(
    ("wrong", "checked"), [(1, 2), (1, 20), (3, 20), (19, 20), (1, 300), (7, 500), (250, 500), (499, 500), (2, 1000)]
)
def test_at_the_bound_so_few_are_seen_once_in_twenty(wrong: int, checked: int) -> None:
    bound = upper_bound(wrong, checked)
    assert chance_of_at_most(wrong, checked, bound) == pytest.approx(0.05, rel=1e-8)
    assert wrong / checked < bound < 1


def test_where_nothing_is_known_all_may_be_wrong() -> None:
    assert upper_bound(0, 0) == upper_bound(5, 5) == 1.0


@pytest.mark.parametrize(("wrong", "checked"), [(-1, 5), (6, 5)])
def test_more_than_there_are_is_no_sample(wrong: int, checked: int) -> None:
    with pytest.raises(ValueError, match="of 5"):
        upper_bound(wrong, checked)


@pytest.mark.parametrize(("wrong", "checked"), [(0, 10**12), (1, 10**9), (1000, 10**9), (10**6, 10**9), (5 * 10**8, 10**9)])
def test_of_a_billion_rows_it_lies_close_above_what_was_seen(wrong: int, checked: int) -> None:
    bound = upper_bound(wrong, checked)
    error = math.sqrt(max(wrong, 1)) / checked
    assert wrong / checked < bound < wrong / checked + 4 * error + 4 / checked


def test_it_grows_with_what_was_wrong_and_falls_with_what_was_checked() -> None:
    by_wrong = [upper_bound(k, 200) for k in range(201)]
    assert by_wrong == sorted(by_wrong)
    by_size = [upper_bound(2, n) for n in (3, 10, 100, 1000, 10_000, 10**6)]
    assert by_size == sorted(by_size, reverse=True)


def test_confidence_is_what_it_says() -> None:
    assert upper_bound(0, 100, 0.99) == pytest.approx(1 - 0.01**0.01)
    assert upper_bound(3, 100, 0.5) < upper_bound(3, 100) < upper_bound(3, 100, 0.999)


@pytest.mark.parametrize(("x", "expected"), [(-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (2.0, 1.0)])
def test_the_incomplete_beta_at_its_ends(x: float, expected: float) -> None:
    assert incomplete_beta(2, 3, x) == expected


def test_the_incomplete_beta_is_symmetric() -> None:
    for a, b, x in ((1, 1, 0.3), (2, 5, 0.1), (0.5, 0.5, 0.9), (50, 3, 0.97)):
        assert incomplete_beta(a, b, x) == pytest.approx(1 - incomplete_beta(b, a, 1 - x), abs=1e-12)
    assert incomplete_beta(1, 1, 0.3) == pytest.approx(0.3)
