"""The words of ``freshet status --completeness``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from freshet.account.windows import Completeness, WindowFill, named
from freshet.cli.rows import table
from freshet.metrics.complete import share_words

_HEADERS = ("PIPELINE", "WINDOW", "AT SOURCE", "TAKEN", "PUBLISHED", "SHARE", "STATE")


def completeness_words(found: Sequence[Completeness]) -> str:
    """Return the windows of pipelines as a table, and below it why some of them are short."""
    if not found:
        return "no pipeline has event_times, by which windows are told apart"
    rows = [_row(one, window) for one in found for window in one.windows]
    below = [line for one in found for line in _below(one)]
    return "\n".join([*([table(_HEADERS, rows)] if rows else []), *below])


def _row(one: Completeness, window: WindowFill) -> tuple[str, ...]:
    numbers = ("-" if number is None else f"{number:,}" for number in (window.at_source, window.taken, window.published))
    share = window.share if window.at_source is not None else None
    return (one.pipeline, named(window.begin), *numbers, "-" if share is None else share_words(share), window.fill)


def _below(one: Completeness) -> Iterator[str]:
    if one.error:
        yield f"{one.pipeline}: {one.error}"
    elif not one.windows:
        yield f"{one.pipeline}: no window with events is known"
    for window in one.windows:
        if window.why and window.fill in ("short", "unknown"):
            yield f"{one.pipeline}: the window of {named(window.begin)} is {window.fill}: {window.why}"
    if one.note:
        yield f"{one.pipeline}: {one.note}"
