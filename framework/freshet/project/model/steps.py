"""What a pipeline does with its rows: the chain that makes them, how they reach the target, how dates are done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from freshet.project.syntax.statements import Statement

# A user never writes the last two: `freshet index bootstrap` and a full refresh do, through the same checks.
Operation = Literal["upsert", "insert", "delete", "insert_overwrite", "bulk_insert", "insert_overwrite_table"]
# Nor does a user write `rows`, nor `reference_key`: by it the newest rows of a changelog are written.
WriteStrategy = Literal["rows", "merge", "partial_update", "full_outer_join", "reference_key", "history", "append"]
Granularity = Literal["hour", "day", "month"]


@dataclass(frozen=True, kw_only=True)
class WriteSpec:
    """How the batch reaches the target.

    Args:
        strategy: ``rows``: whole rows, by Hudi's write operation; ``reference_key``: events of a changelog, merged by their
            reference keys, of which the newest is kept; else see ``shape.strategies.Write``.
        columns: The columns that the pipeline owns; all of the table's for ``rows``.
        insert_missing: True where a row whose key is not in the target is inserted.
        changed_columns: Column of the batch that names the columns a row carries; empty where null means unchanged.
        ordering: The owned column by which an older update loses; empty for the table's ordering field.
    """

    strategy: WriteStrategy
    columns: tuple[str, ...]
    insert_missing: bool = True
    changed_columns: str = ""
    ordering: str = ""


@dataclass(frozen=True, kw_only=True)
class BackfillSpec:
    """How a range of dates is computed again.

    Args:
        event_time: Event-time column of the main source and of the inputs that are cut too, by name; ``SRC`` is the source.
        partition: The target's partition column that follows from the event time; empty where there is none.
        granularity: What one such partition holds.
        write: ``upsert``, or ``insert_overwrite`` of the chunk's partitions.
    """

    event_time: Mapping[str, str]
    partition: str
    granularity: Granularity
    write: Literal["upsert", "insert_overwrite"]


@dataclass(frozen=True)
class Accepted:
    """A reason why increments may differ from a recompute, which the author accepts.

    Args:
        code: Its code.
        why: Why it does not happen, or does not matter.
        of: The input or column that it is about; empty for all.
    """

    code: str
    why: str
    of: str = ""


@dataclass(frozen=True, kw_only=True)
class TransformSpec:
    """One file of the chain.

    Args:
        file: Path relative to the project.
        kind: ``sql`` or ``python``.
        statements: The SQL's statements after Jinja; none for Python.
        helpers: The project's files that a Python step imports, and that these import.
    """

    file: str
    kind: Literal["sql", "python"]
    statements: tuple[Statement, ...] = ()
    helpers: tuple[str, ...] = ()
