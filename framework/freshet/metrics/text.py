"""Samples as text in Prometheus' own format.

Own, and not prometheus_client's: with gauges and counters alone it is these lines. That library makes objects for each metric
and each label, and would be one more dependency of every command, only to write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from freshet.metrics.registry import BY_NAME
from freshet.metrics.samples import Sample

#: What a server that takes the text is told.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def text_of(samples: Iterable[Sample]) -> str:
    """Return samples, those of one metric side by side, as a text; its last line says that it is whole."""
    return "".join(f"{line}\n" for line in _lines(samples)) + "# EOF\n"


def _lines(samples: Iterable[Sample]) -> Iterator[str]:
    for name, group in groupby(samples, key=lambda sample: sample.name):
        metric = BY_NAME[name]
        yield f"# HELP {name} {metric.help}"
        yield f"# TYPE {name} {'counter' if metric.is_counter else 'gauge'}"
        if metric.unit:
            yield f"# UNIT {name} {metric.unit}"
        yield from (f"{name}{{{_labels(one)}}} {number(one.value)}" for one in group)


def _labels(sample: Sample) -> str:
    return ",".join(f'{label}="{value.translate(_ESCAPED)}"' for label, value in sample.labels)


def number(value: float) -> str:
    """Return a value without an exponent where it is a whole number."""
    return str(int(value)) if value == int(value) else repr(value)
