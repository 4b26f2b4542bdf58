"""A landed table as it stands: what its commits and properties say of it, and what must not be asked otherwise. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from freshet.credentials import without_credentials
from freshet.errors import StateError
from freshet.hudi.checkpoint import COLUMNS_KEY, INDEX_KEY, ORIGIN_KEY, PIPELINE_KEY
from freshet.hudi.kept_texts import columns_in, unreadable
from freshet.hudi.keys import options
from freshet.hudi.table import TableState
from freshet.landing.plan import CDC, COMMAND_LINE, ORIGIN, UNTOUCHED, TableAsked, of_a_pipeline, said, write_options_of
from freshet.problems import Problems
from freshet.project.load.warehouse import Warehouse
from freshet.project.model.pipeline import IndexSpec, PipelineSpec, TableRef, TableSpec, TableType
from freshet.project.rules import target
from freshet.project.rules.hoodie import check_hoodie
from freshet.project.syntax.column_text import refuse
from freshet.types.columns import Column

# What a table is made with, and keeps.
_KEPT = (
    CDC,
    "hoodie.table.cdc.supplemental.logging.mode",
    "hoodie.datasource.write.hive_style_partitioning",
    "hoodie.datasource.write.partitionpath.urlencode",
)


def standing_spec(bare: PipelineSpec, warehouse: Warehouse, asked: TableAsked, table: TableState) -> PipelineSpec:
    """Return the table as it stands.

    Args:
        bare: See ``bare_spec``.
        warehouse: The project's configs, whose settings of Hudi hold.
        asked: What is asked of it.
        table: Its state.

    Raises:
        StateError: TABLE_OF_A_PIPELINE, TABLE_NOT_LANDED, KEY_CHANGED, ORDERING_CHANGED, PARTITIONING_CHANGED,
            TABLE_TYPE_CHANGED, COLUMN_CHANGED or INDEX_CHANGED.
    """
    config, ref = table.config, bare.target.ref
    recorded, schema = _recorded(bare, table)
    narrow = json.loads(table.latest_extra(COLUMNS_KEY) or "{}")
    columns = tuple(_as_recorded(ref, column, narrow) for column in columns_in(ref, schema))
    _refuse_other(ref, asked, table, columns, recorded["parameters"].get(options.BUCKET_COUNT, ""))
    problems = Problems()
    check_hoodie(warehouse.hoodie, problems)
    refuse(bare.name, problems)
    values = {key: setting for key, setting in warehouse.hoodie.items() if key not in target.OWN_KEYS}
    values |= {key: said(config.properties[key]) for key in _KEPT if key in config.properties}
    spec = TableSpec(
        ref=ref,
        file=COMMAND_LINE,
        columns=columns,
        partition_by=config.partition_by,
        record_key=config.record_key,
        ordering_field=config.ordering_field,
        table_type=cast(TableType, config.table_type),
        properties={},
        column_lines={},
    )
    return replace(
        bare,
        target=spec,
        write_options=write_options_of(values),
        index=IndexSpec(recorded["type"], dict(recorded["parameters"])),
    )


def _recorded(bare: PipelineSpec, table: TableState) -> tuple[dict[str, Any], str]:
    ref = bare.target.ref
    for _, info in table.newest_first():
        if PIPELINE_KEY in info.extra and info.extra.get(ORIGIN_KEY) != ORIGIN:
            raise of_a_pipeline(ref, without_credentials(info.extra[PIPELINE_KEY]))
        if info.extra.get(INDEX_KEY) and info.extra.get("schema"):
            return json.loads(info.extra[INDEX_KEY]), info.extra["schema"]
    raise StateError(
        "TABLE_NOT_LANDED",
        f"{ref.name}: another program has made the table at {ref.path}, and nobody says which index finds "
        "its rows: an update would leave two of one key.",
        UNTOUCHED,
        f"Write it with what made it, or land the files in another table of {ref.name.partition('.')[0]}.",
        path=ref.path,
    )


def _refuse_other(ref: TableRef, asked: TableAsked, table: TableState, columns: Sequence[Column], buckets: str) -> None:
    stands, types = table.config, {c.name.lower(): str(c.type) for c in columns}
    long = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}.get(asked.table_type, stands.table_type)
    partition_by = stands.partition_by if asked.partition_by is None else asked.partition_by
    for code, option, before, after in (
        ("KEY_CHANGED", "--key", ",".join(stands.record_key), ",".join(asked.key or stands.record_key)),
        ("ORDERING_CHANGED", "--ordering", stands.ordering_field, asked.ordering or stands.ordering_field),
        ("PARTITIONING_CHANGED", "--partition-by", ",".join(stands.partition_by), ",".join(partition_by)),
        ("TABLE_TYPE_CHANGED", "--type", stands.table_type, long),
        ("INDEX_CHANGED", "buckets (--partition-size)", buckets, str(asked.buckets) if asked.exactly and buckets else buckets),
        *(
            ("COLUMN_CHANGED", f"--columns {c.name}", types.get(c.name.lower(), "no such column"), str(c.type))
            for c in asked.columns
        ),
    ):
        if after.lower() != before.lower():
            before = without_credentials(before)
            raise StateError(
                code,
                f"{ref.name}: the table {ref.path} was made with {option} '{before}', and here it is '{after}'.",
                UNTOUCHED,
                f"Say '{before}', or nothing; or land the files in another table. Of a table that was made by "
                f"mistake: freshet land {ref.name} --drop, and land the files again.",
                before=before,
                after=after,
            )


def _as_recorded(ref: TableRef, column: Column, narrow: Mapping[str, str]) -> Column:
    recorded = narrow.get(column.name.lower())
    if recorded is None:
        return column
    # sqlglot costs 0.15 s to import.
    from freshet.types.from_sql import TypeProblem, parse_type

    try:
        return replace(column, type=parse_type(recorded))
    except TypeProblem as error:
        raise unreadable(ref, "records a type that is none") from error
