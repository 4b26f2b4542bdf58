"""A table that files are landed in, as the rest of freshet knows tables: asked for, made anew, written. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from freshet.errors import StateError
from freshet.hudi.checkpoint import COLUMNS_KEY, INDEX_KEY, ORIGIN_KEY, PIPELINE_KEY
from freshet.hudi.kept_texts import LANDED_KEY
from freshet.hudi.keys import options
from freshet.hudi.options import IS_DELETED, columns_record, writer_options
from freshet.hudi.table import StateReader, TableState
from freshet.plan.index_record import index_record
from freshet.plan.retention import HELD, left_by_a_run
from freshet.plan.stages import Commit, Notice
from freshet.problems import Problems
from freshet.project.load.warehouse import Warehouse, place_of
from freshet.project.model.pipeline import IndexSpec, PipelineSpec, SourceSpec, TableRef, TableSpec
from freshet.project.model.steps import WriteSpec
from freshet.project.rules import source, target
from freshet.project.rules.column_types import TypeRules
from freshet.project.rules.hoodie import agreed, check_hoodie
from freshet.project.rules.index import IndexRules
from freshet.project.syntax.column_text import quoted_name, refuse
from freshet.project.syntax.ddl import DdlTable, Setting, parse_ddl
from freshet.project.syntax.files import Place
from freshet.types.columns import Atomic, Column

#: What a commit of landed files says of where it comes from, and of what it holds: see ``Commit.metadata``.
ORIGIN = "landing"
#: Ordering column of a table whose files have none.
GENERATED = "landed_at"
MARK = Column(name=IS_DELETED, type=Atomic("boolean"))
UNTOUCHED = "Nothing was written."
COMMAND_LINE = "the command line"
CDC = "hoodie.table.cdc.enabled"


@dataclass(frozen=True, kw_only=True)
class TableAsked:
    """What is asked of the table; where it stands, what is named must be what it has.

    Args:
        key: Record key columns; empty where nothing is said.
        ordering: Ordering field; empty where nothing is said.
        partition_by: Partition columns; None where nothing is said.
        table_type: ``cow`` or ``mor``; empty where nothing is said.
        columns: Columns whose types are said.
        buckets: Buckets of a new table, in each partition.
        exactly: True where somebody has said how many buckets.
    """

    key: tuple[str, ...] = ()
    ordering: str = ""
    partition_by: tuple[str, ...] | None = None
    table_type: str = ""
    columns: tuple[Column, ...] = ()
    buckets: int = 1
    exactly: bool = False


def bare_spec(warehouse: Warehouse, ref: TableRef) -> PipelineSpec:
    """Return what is known of a table before anybody looks at it or at its files.

    Raises:
        StateError: TABLE_OF_A_PIPELINE.
    """
    writers = warehouse.writers.get(place_of(ref), ())
    if writers:
        raise of_a_pipeline(ref, writers[0])
    table = TableSpec(
        ref=ref,
        file=COMMAND_LINE,
        columns=(),
        partition_by=(),
        record_key=(),
        ordering_field="",
        table_type="COPY_ON_WRITE",
        properties={},
        column_lines={},
    )
    return PipelineSpec(
        name=ref.name,
        file=COMMAND_LINE,
        owner="",
        description="",
        tags=(),
        schedule="",
        target=table,
        source=SourceSpec(
            table=ref,
            max_commits=1,
            missing_checkpoint="ERROR",
            full_scan_when_expired=False,
            incremental_format="latest_state",
        ),
        inputs=(),
        transform=(),
        operation="upsert",
        write=WriteSpec(strategy="rows", columns=()),
        backfill=None,
        co_writers=(),
        readers=warehouse.readers.get(place_of(ref), ()),
        index=IndexSpec("BUCKET", {}),
        checks=(),
        evolution="nothing",
        quarantine=TableRef(f"{ref.name}_quarantine", f"{ref.path}_quarantine"),
        write_options={},
        spark_conf=warehouse.spark_conf,
        variables={},
        lease_wait_seconds=warehouse.lease_wait_seconds,
        lease_across_machines=warehouse.lease_across_machines,
        fingerprint="",
    )


def new_spec(bare: PipelineSpec, warehouse: Warehouse, asked: TableAsked, columns: Sequence[Column]) -> PipelineSpec:
    """Return the table as it will be made: with change data, and a bucket index.

    Args:
        bare: See ``bare_spec``.
        warehouse: The project's configs, whose settings of Hudi hold.
        asked: What is asked of it.
        columns: Its columns.

    Raises:
        DataError: With the code of what is wrong first, and all of it in words.
    """
    problems = Problems()
    ddl = _declared(bare.target.ref.name, asked, columns, problems)
    refuse(bare.name, problems)
    assert ddl is not None
    place = Place(COMMAND_LINE, 0)
    check_hoodie(warehouse.hoodie, problems)
    # Which index a pipeline has says nothing of this table: a key is looked for in all of it when files are landed.
    own = {key: setting for key, setting in warehouse.hoodie.items() if key not in target.OWN_KEYS}
    own |= {options.INDEX_TYPE: said("BUCKET"), options.BUCKET_COUNT: said(str(asked.buckets))}
    values = agreed(own, ddl, problems)
    rules = target.TargetRules(ddl, values, place, problems)
    table = rules.table(bare.target.ref)
    index = IndexRules(ddl, values, place, problems).index(bare.name, table, {}, {}, partition_is_stable=True)
    TypeRules(ddl, values, place, problems).types(table, index)
    refuse(bare.name, problems)
    return replace(bare, target=table, index=index, write_options=write_options_of(values))


def landing_commit(
    spec: PipelineSpec,
    state: StateReader,
    table: TableState | None,
    landed: Mapping[str, object],
) -> tuple[Commit, tuple[Notice, ...]]:
    """Return the commit that publishes what changed, and why cleaning is left, where it is.

    Args:
        spec: The table.
        state: Reader of the tables: how far the pipelines that read this one have come.
        table: Its state; None where it is made.
        landed: What the commit says of the files.
    """
    held = left_by_a_run(spec, state, table)
    metadata = {
        PIPELINE_KEY: spec.name,
        INDEX_KEY: index_record(spec),
        COLUMNS_KEY: columns_record(spec.target.columns),
        ORIGIN_KEY: ORIGIN,
        LANDED_KEY: json.dumps(landed, sort_keys=True),
    }
    options = {**writer_options(spec, creates=table is None), **(HELD if held else {})}
    found = Commit(table=spec.target.ref, operation=spec.operation, options=dict(sorted(options.items())), metadata=metadata)
    return found, held


def _declared(name: str, asked: TableAsked, columns: Sequence[Column], problems: Problems) -> DdlTable | None:
    def named(names: Sequence[str]) -> str:
        return ",".join(names)

    listed = ", ".join(f"`{c.name.replace('`', '``')}` {c.type}" for c in columns)
    ddl = parse_ddl(f"CREATE TABLE {quoted_name(name)} ({listed}) USING hudi", COMMAND_LINE, problems)
    if ddl is None:
        return None
    settings = {
        "primaryKey": said(named(asked.key)),
        "preCombineField": said(asked.ordering),
        "type": said(asked.table_type or "cow"),
        CDC: said("true"),
    }
    partition_by = said(named(asked.partition_by)) if asked.partition_by else None
    return replace(ddl, settings=settings, partition_by=partition_by)


def said(value: str) -> Setting:
    """Return a setting as if the command line had said it."""
    return Setting(value=value, file=COMMAND_LINE, line=0)


def write_options_of(values: Mapping[str, Setting]) -> dict[str, str]:
    """Return the settings that Hudi's writer is given as they are."""
    own = target.OWN_KEYS | source.OWN_KEYS
    return {
        key: value.value
        for key, value in sorted(values.items())
        if key not in own and not key.startswith(options.STREAMER_PREFIX)
    }


def of_a_pipeline(ref: TableRef, pipeline: str) -> StateError:
    """Return the error of a table that a pipeline writes."""
    return StateError(
        "TABLE_OF_A_PIPELINE",
        f"{ref.name} is written by the pipeline {pipeline}, and by it alone: a row that was landed "
        "there would be in no source, and lost with the next backfill.",
        UNTOUCHED,
        "Land the files in a table of their own, and let the pipeline read that.",
        pipeline=pipeline,
    )
