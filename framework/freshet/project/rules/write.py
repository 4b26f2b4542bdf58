"""How rows are written: checked against the target's columns, keys and partitions."""

from __future__ import annotations

from collections.abc import Callable

from freshet.problems import Problems, did_you_mean
from freshet.project.model.pipeline import IndexSpec, TableSpec
from freshet.project.model.steps import BackfillSpec, Operation, WriteSpec
from freshet.project.shape.strategies import Write
from freshet.project.syntax.files import Place

PlaceOf = Callable[..., Place]


def read_write(
    declared: Write | None,
    table: TableSpec,
    operation: Operation,
    concurrency: str,
    place_of: PlaceOf,
    problems: Problems,
) -> WriteSpec:
    """Check the write strategy.

    Args:
        declared: The YAML's ``write``; None where it has none.
        table: The target.
        operation: Hudi's write operation.
        concurrency: Hudi's concurrency mode.
        place_of: Gives the place of a path of keys.
        problems: Receives what is wrong.
    """
    names = {c.name.lower(): c.name for c in table.columns}
    if declared is None:
        return WriteSpec(strategy="rows", columns=tuple(names.values()))
    at = place_of("write")
    if declared.strategy in ("history", "append"):
        said = f"write.strategy {declared.strategy} is of changelogs, and the source has rows."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, "Read events: 'source: {format: changelog, ...}'.")
        return WriteSpec(strategy="rows", columns=tuple(names.values()))
    if declared.columns is None:
        said = f"write.strategy {declared.strategy} sets columns, and the key 'columns' is missing."
        problems.add(at.file, at.line, "MISSING_KEY", said, "Write 'columns: [<column>, ...]'.")
    located = (*table.record_key, *table.partition_by, table.ordering_field)
    owned = []
    for column in declared.columns or ():
        name = names.get(column.lower())
        if name is None:
            problems.add(
                at.file,
                at.line,
                "UNKNOWN_COLUMN",
                f"write.columns: {table.file} has no column '{column[:80]}'.",
                did_you_mean(column, names.values()),
            )
        elif name in (*table.record_key, *table.partition_by):
            problems.add(
                at.file,
                at.line,
                "BAD_VALUE",
                f"write.columns: {name} is of the record key or partition, which finds the row and is not changed.",
                "Remove it from the list.",
            )
        else:
            owned.append(name)
    if concurrency == "NON_BLOCKING_CONCURRENCY_CONTROL":
        problems.add(
            at.file,
            at.line,
            "CONFLICTING_SETTING",
            f"write.strategy {declared.strategy} joins with the target as it "
            "stands, and by NON_BLOCKING_CONCURRENCY_CONTROL another writer may change it meanwhile.",
            "Write 'hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL'.",
        )
    if operation != "upsert":
        problems.add(
            at.file,
            at.line,
            "CONFLICTING_SETTING",
            f"write.strategy {declared.strategy} goes with the operation upsert, not {operation}.",
            "Remove hoodie.datasource.write.operation, or 'write:'.",
        )
    if declared.changed_columns is not None and declared.strategy != "partial_update":
        problems.add(
            at.file,
            at.line,
            "CONFLICTING_SETTING",
            "write.changed_columns goes with strategy partial_update.",
            "Remove it, or write 'strategy: partial_update'.",
        )
    if declared.strategy == "full_outer_join" and table.partition_by:
        problems.add(
            at.file,
            at.line,
            "NOT_SUPPORTED",
            "full_outer_join overwrites the whole table, and the target is partitioned.",
            "Write 'strategy: merge'.",
        )
    ordering = names.get((declared.ordering or "").lower(), "")
    if declared.ordering is not None and ordering not in (*owned, table.ordering_field):
        problems.add(
            at.file,
            at.line,
            "BAD_VALUE",
            f"write.ordering: '{declared.ordering[:80]}' is not a column that the pipeline owns.",
            f"Choose from: {', '.join((*owned, table.ordering_field))}.",
        )
    missing = [c.name for c in table.columns if not c.nullable and c.name not in owned and c.name not in located]
    if declared.when_not_matched == "insert" and missing:
        problems.add(
            at.file,
            at.line,
            "NOT_NULL_NOT_OWNED",
            f"A new row would have no value for {', '.join(missing)}, which the DDL says is NOT NULL.",
            "Write 'when_not_matched: ignore', or own the column.",
        )
    return WriteSpec(
        strategy=declared.strategy,
        columns=tuple(owned),
        insert_missing=declared.when_not_matched == "insert",
        changed_columns=declared.changed_columns or "",
        ordering=ordering,
    )


def check_overwrites(
    operation: Operation,
    write: WriteSpec,
    backfill: BackfillSpec | None,
    index: IndexSpec,
    at: Place,
    problems: Problems,
    *,
    partition_is_stable: bool,
) -> None:
    """Refuse to overwrite partitions under a global index where keys would stand twice or be looked for in vain.

    An overwrite does not look its keys up: one that stands in another partition would stand twice (seen on Hudi 1.0.2). And
    an HBase index keeps the entries of rows that the overwrite leaves out.

    Args:
        operation: Hudi's write operation.
        write: How the batch reaches the target.
        backfill: How dates are computed again.
        index: The target's index, a global one.
        at: Where a problem is reported.
        problems: Receives OVERWRITE_DUPLICATES.
        partition_is_stable: The pipeline's promise that a key's partition never changes.
    """
    overwrites = "insert_overwrite" in (operation, backfill.write if backfill else "")
    if index.type == "HBASE" and (overwrites or write.strategy == "full_outer_join"):
        problems.add(
            at.file,
            at.line,
            "OVERWRITE_DUPLICATES",
            "An overwrite leaves the entries of the rows that it takes out in the "
            "HBase index, and a later row of such a key would be written to a file that no longer counts.",
            "Write 'upsert'.",
        )
    elif overwrites and not partition_is_stable:
        problems.add(
            at.file,
            at.line,
            "OVERWRITE_DUPLICATES",
            "insert_overwrite does not look keys up in the record index: one that "
            "stands in another partition would stand twice.",
            "Write 'upsert', or promise 'partition_is_stable: true'.",
        )


def check_ordering(
    write: WriteSpec,
    table: TableSpec,
    co_writers: tuple[str, ...],
    at: Place,
    problems: Problems,
) -> None:
    """Refuse to order the rows of one of several owners by the table's ordering field.

    Args:
        write: How the batch reaches the target.
        table: The target.
        co_writers: The pipelines that own other columns of it.
        at: Where a problem is reported.
        problems: Receives SHARED_ORDERING.
    """
    if co_writers and write.strategy != "rows" and write.ordering in ("", table.ordering_field):
        problems.add(
            at.file,
            at.line,
            "SHARED_ORDERING",
            f"{', '.join(co_writers)} writes this table too: the ordering field "
            f"{table.ordering_field} is as new as the newest row of either, and rows of this pipeline that are older than that "
            "would be lost.",
            "Own a column that orders this pipeline's rows: 'write.ordering: <column>'.",
        )
