"""What a table's own timeline tells of its services, its checkpoints, its checks and its quarantine. No JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from freshet.errors import unforeseen
from freshet.hudi.checkpoint import MAIN, ORIGIN_KEY, RUN_ID_KEY
from freshet.hudi.options import commits_since_compaction
from freshet.hudi.table import StateReader, TableState
from freshet.plan.positions import checkpoint_of, checkpoints_of
from freshet.project.model.checks import kind_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.peek import Peek, peek
from freshet.quarantine.table import may_drop
from freshet.run.checks_history import checks_history
from freshet.site.detail_facts import CheckRow, KeptOut, OlderCheckpoint, Position, Quarantined
from freshet.site.facts import Services

_ACTIONS = {"clean": "cleaning", "rollback": "rollback"}
_OPERATIONS = {"COMPACT": "compaction", "LOG_COMPACT": "compaction", "CLUSTER": "clustering"}
# So many of the newest commits are looked at for one that wrote files.
_NEWEST = 10


def services_of(target: TableState, running: str) -> Services:
    """Return what the services of a table have done, by its active timeline.

    Args:
        target: The table.
        running: The service at work; empty where none is.
    """
    last: dict[str, str] = {}
    for instant in sorted(target.instants):
        name = _ACTIONS.get(instant.action, "")
        # Of a commit that brought rows nobody has to read more here.
        may_serve = instant.action in ("commit", "replacecommit") and instant not in target.data_commits
        name = name or (_OPERATIONS.get(target.info(instant).operation, "") if may_serve else "")
        if name:
            last[name] = instant.completed
    infos = (target.info(instant) for instant in islice(reversed(target.data_commits), _NEWEST))
    newest = next((info for info in infos if info.files or info.base_files), None)
    logs = [size for path, size in newest.files if not path.endswith(".parquet")] if newest else []
    return Services(
        last=last,
        debt=commits_since_compaction(target) if target.config.table_type == "MERGE_ON_READ" else None,
        commits=len(target.commits),
        files=newest.base_files + len(logs) if newest else 0,
        bytes=newest.base_bytes + sum(logs) if newest else 0,
        running=running,
    )


def vector_of(spec: PipelineSpec, target: TableState) -> tuple[Position, ...]:
    """Return a pipeline's checkpoint, position by position, the main source's first.

    Args:
        spec: The pipeline.
        target: Its target.
    """
    found = checkpoint_of(spec, target)
    if found is None:
        return ()
    tables = {MAIN: spec.source.table.name, **{one.name: one.table.name for one in spec.inputs}}
    return tuple(
        Position(
            input="<SRC>" if name == MAIN else name,
            table=tables.get(name, ""),
            kind=position.kind,
            parts=tuple(parts_of(position.as_json())),
        )
        for name, position in sorted(found.positions.items(), key=lambda pair: (pair[0] != MAIN, pair[0]))
    )


def parts_of(position: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the parts of a position's JSON by their names: of topics the offsets of each are one text."""
    for key, value in position.items():
        name = f"{before} {key}".strip()
        if isinstance(value, Mapping) and value and all(str(number).isdecimal() for number in value):
            yield name, ", ".join(f"{number}: {offset}" for number, offset in value.items())
        elif isinstance(value, Mapping):
            yield from parts_of(value, name)
        elif value not in (None, ""):
            yield name, str(value)


def checkpoints_in(spec: PipelineSpec, target: TableState, limit: int) -> tuple[OlderCheckpoint, ...]:
    """Return the newest checkpoints of a pipeline, the newest first, as ``freshet checkpoint show`` does."""
    return tuple(
        OlderCheckpoint(
            commit=instant.completed,
            position=found.main.text if found.main else "",
            origin=info.extra.get(ORIGIN_KEY, "HoodieStreamer"),
            rows=info.rows,
            run_id=info.extra.get(RUN_ID_KEY, ""),
        )
        for instant, info, found in islice(checkpoints_of(spec, target), limit)
    )


def checks_of(
    spec: PipelineSpec, state: StateReader, limit: int
) -> tuple[tuple[str, ...], tuple[CheckRow, ...], tuple[tuple[str, int], ...]]:
    """Return what a pipeline's checks found in its newest commits.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        limit: How many commits, the newest first.

    Returns:
        The commits, a row for each check that is declared or was, and how many rows each commit sent to the quarantine.
    """
    history = checks_history(spec, state, limit).history
    declared = {one.name: (one.severity, kind_of(one.rule)) for one in spec.checks}
    found = [one.get("checks") or {} for one in history]
    # One that is no longer declared was something then.
    names = dict.fromkeys((*declared, *(name for one in found for name in one)))
    rows = tuple(
        CheckRow(
            name=name,
            severity=declared.get(name, ("", ""))[0],
            rule=declared.get(name, ("", "no longer declared"))[1],
            found=tuple((str(one[name]["status"]), int(one[name]["rows"])) if name in one else None for one in found),
        )
        for name in names
    )
    sent = tuple((str(one["commit"]), int(one.get("quarantined") or 0)) for one in history)
    return tuple(str(one["commit"]) for one in history), rows, tuple(one for one in sent if one[1])


def quarantine_of(
    spec: PipelineSpec, state: StateReader, sent: tuple[tuple[str, int], ...], limit: int = 0
) -> Quarantined | None:
    """Return what is known of a pipeline's quarantine; None where no check sends rows there.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        sent: How many rows each of the newest commits sent there.
        limit: How many of its rows are read; for 0 none.
    """
    table = state.table(spec.quarantine)
    if table is None and not sent and not may_drop(spec):
        return None
    infos = [table.info(instant) for instant in table.commits] if table is not None else []
    found, unread = Peek(), ""
    try:
        found = peek(spec, state, limit)
    except Exception as unknown:  # whatever a store or a file raises, the counts are there
        unread = str(unforeseen(unknown))
    return Quarantined(
        table=spec.quarantine.name,
        sent=sent,
        inserted=sum(info.inserts for info in infos),
        deleted=sum(info.deletes for info in infos),
        rows=tuple(KeptOut(**vars(row)) for row in found.rows),
        is_cut=found.is_cut,
        unread=unread,
    )
