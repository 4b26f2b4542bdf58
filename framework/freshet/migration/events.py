"""What a migration does with a table that is merged from events: copies it, where its rows say what the new one keeps. Pure."""

from __future__ import annotations

from freshet.changelog.layout import reserved_columns
from freshet.errors import StateError
from freshet.hudi.kept_texts import NO_COLUMNS, columns_in
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import PipelineSpec
from freshet.types.columns import stored

_UNTOUCHED = "Nothing was read or written."


def refuse_events(spec: PipelineSpec, old: TableState, copy: bool) -> None:
    """Refuse to load a table from events, and to copy one whose rows say otherwise how new they are.

    Args:
        spec: The pipeline as it will be; of one whose source is no changelog nothing is refused.
        old: The table that stands.
        copy: Whether its rows are copied.

    Raises:
        StateError: EVENTS_NOT_MIGRATED.
    """
    log = spec.source.changelog
    if log is None:
        return
    if not copy:
        raise StateError(
            "EVENTS_NOT_MIGRATED",
            f"{spec.name}: {old.ref.path} is merged from events, and how often each row was merged no load from its source "
            "gives again.",
            _UNTOUCHED,
            f"Copy the rows that stand: freshet migrate {spec.name} --copy",
        )
    stands = {column.name.lower(): str(stored(column.type)) for column in columns_in(old.ref, _schema(old))}
    key, declared = list(old.config.record_key), list(spec.target.record_key)
    other = [f"the key is {', '.join(key)} and would be {', '.join(declared)}"] if sorted(key) != sorted(declared) else []
    other += [
        f"{column.name} is {stands.get(column.name.lower(), 'missing')} and would be {stored(column.type)}"
        for column in reserved_columns(log.layout)
        if stands.get(column.name.lower()) != str(stored(column.type))
    ]
    if other:
        raise StateError(
            "EVENTS_NOT_MIGRATED",
            f"{spec.name}: rows of {old.ref.path} do not say what the new table keeps of events: {'; '.join(other)}.",
            _UNTOUCHED,
            f"Where the source still has all events, name another place by LOCATION in {spec.target.file}, and read "
            f"them into it: freshet run {spec.name}",
        )


def _schema(old: TableState) -> str:
    return old.latest_extra("schema") or NO_COLUMNS
