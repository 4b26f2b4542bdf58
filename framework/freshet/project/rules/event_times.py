"""What must agree about a pipeline's event times: their column, their windows, and what is promised of them."""

from __future__ import annotations

from collections.abc import Iterator

from freshet.problems import Problems, did_you_mean
from freshet.project.model.pipeline import TableSpec
from freshet.project.model.promises import EventTimes
from freshet.project.model.steps import Operation, WriteSpec
from freshet.project.rules.changelog import PlaceOf
from freshet.project.shape.files import Settings

_TIMES = ("timestamp", "timestamp_ntz")
_KEY = "event_times"


def read_event_times(
    settings: Settings | None,
    table: TableSpec,
    operation: Operation,
    write: WriteSpec,
    place: PlaceOf,
    problems: Problems,
    *,
    is_changelog: bool,
) -> EventTimes | None:
    """Return whose event times a pipeline counts; None where it counts none.

    The events of a changelog say when they were made: their latency is counted whatever is declared.

    Args:
        settings: The pipeline's; None where they cannot be read.
        table: The target.
        operation, write: How it is written: a batch may hold a part of its columns.
        place: Gives the place of a path of keys.
        problems: Receives UNKNOWN_COLUMN, BAD_VALUE, MISSING_KEY and CONFLICTING_SETTING.
        is_changelog: True where the main source is a changelog.
    """
    if settings is None:
        return None
    located = {*table.record_key, *table.partition_by, table.ordering_field}
    held = located if operation == "delete" else located | set(write.columns)
    for path, code, said, hint in _wrong(settings, table, is_changelog, held):
        at = place(*path)
        problems.add(at.file, at.line, code, said, hint)
    if settings.event_times is None:
        return EventTimes() if is_changelog else None
    return settings.event_times.spec()


def _wrong(
    settings: Settings, table: TableSpec, is_changelog: bool, held: set[str]
) -> Iterator[tuple[tuple[str, ...], str, str, str]]:
    declared = settings.event_times
    if declared is None:
        if settings.slo.completeness is not None:
            said = "slo.completeness is of windows of event times, and no event_times says which."
            yield ("slo", "completeness"), "MISSING_KEY", said, "Write 'event_times: {window: 1h, lateness: 2h}'."
        return
    if declared.is_too_late:
        said = f"{_KEY}: more than 200 windows of {declared.window} would wait for events that are late by {declared.lateness}."
        yield (_KEY, "lateness"), "BAD_VALUE", said, "Write a longer window, or a shorter lateness."
    if declared.column is None:
        return
    if is_changelog:
        said = f"{_KEY}.column: the events of a changelog say themselves when they were made."
        yield (_KEY, "column"), "CONFLICTING_SETTING", said, "Remove the column; window and lateness may stay."
        return
    kinds = {c.name: str(c.type) for c in table.columns}
    if declared.column not in kinds:
        said = f"{_KEY}.column: the target has no column '{declared.column}'."
        yield (_KEY, "column"), "UNKNOWN_COLUMN", said, did_you_mean(declared.column, kinds)
    elif kinds[declared.column] not in _TIMES:
        said = f"{_KEY}.column: {declared.column} is {kinds[declared.column]}, and an event time is a timestamp."
        yield (_KEY, "column"), "BAD_VALUE", said, "Name a column of that type."
    elif declared.column not in held:
        said = f"{_KEY}.column: this pipeline's batch does not hold {declared.column}, which others write."
        yield (
            (_KEY, "column"),
            "CONFLICTING_SETTING",
            said,
            "Name a column that it writes, or declare it where that is written.",
        )
