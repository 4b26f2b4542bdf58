"""Run a test case on Hudi tables of its own: given rows are landed, the pipeline runs as it always does, the target is read."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import Row, SparkSession

from freshet.cases.case import SOURCE, Case, Shape, tables_of
from freshet.cases.reads import with_key
from freshet.cases.rows import frame_of
from freshet.cases.schemas import passes_deletes_on
from freshet.cases.session import small_session
from freshet.errors import FreshetError
from freshet.events.bus import new_run_id
from freshet.events.event import Event
from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.keys.options import DEFAULT_MAX_COMMITS, RECORD_INDEX_ENABLE, RECORD_INDEX_MOVES
from freshet.hudi.options import IS_DELETED
from freshet.hudi.timeline import TimelineState
from freshet.jvm.session import use_settings
from freshet.plan.parts import commit_stage
from freshet.project.model.checks import ReferenceRule
from freshet.project.model.pipeline import IndexSpec, PipelineSpec, Project, SourceSpec, TableRef
from freshet.project.model.records import RecordsSpec
from freshet.run.runner import run_pipeline
from freshet.sinks.commit import write_commit
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import Window

# A table of a few rows that lives for seconds.
_CHEAP = {
    "hoodie.embed.timeline.server": "false",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    **{f"hoodie.{operation}.shuffle.parallelism": "1" for operation in ("upsert", "insert", "delete", "bulkinsert")},
}
# Listing three files is cheaper than keeping a table of them; a record index lives in that table.
_UNLISTED = {"hoodie.metadata.enable": "false"}
_ONE_FILE_GROUP = {f"hoodie.metadata.record.index.{bound}.filegroup.count": "1" for bound in ("min", "max")}
_IN_PLACE_OF_HBASE = IndexSpec("RECORD_INDEX", {RECORD_INDEX_ENABLE: "true", RECORD_INDEX_MOVES: "true"})


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a case gave.

    Args:
        rows: The transformation's result, or the target afterwards; None where an error came first.
        columns: The rows' columns.
        error: What the run raised.
        checks: What became of each check, by name.
    """

    rows: Sequence[Row] | None = None
    columns: Sequence[str] = ()
    error: FreshetError | None = None
    checks: Mapping[str, str] = field(default_factory=dict)


def failed_checks(checks: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the checks that ended the run."""
    return tuple(sorted(name for name, status in checks.items() if status == "failed"))


def run_on_tables(project: Project, spec: PipelineSpec, case: Case, shapes: Mapping[str, Shape], folder: str) -> Ran:
    """Run a pipeline on tables that hold what the case gives.

    The increment is what ``SRC`` gives: the source's one commit after the checkpoint that the target carries. Rows given
    for an input on the source's own table, and rows that ``SRC`` deletes, stood there before it.

    Args:
        project: The project.
        spec: The pipeline.
        case: The case.
        shapes: The columns, keys and partitioning of ``SRC`` and the inputs.
        folder: Where the tables are made, in a folder of the case's own, and taken away again.

    Raises:
        FreshetError: The tables could not be made; what the run itself raises is part of the result.
    """
    spark = small_session(spec.spark_conf).newSession()
    use_settings(spark, spec.spark_conf)
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
        spec = _moved(spec, place)
        state = TimelineState()
        _land_all(spark, spec, case, shapes)
        heard: list[Event] = []
        result = run_pipeline(project, spec, state, heard.append, drain=True, wait_seconds=0)
        checks = {str(one["name"]): str(one["status"]) for one in (*result.checks, *_of_error(result.error))}
        # The tables go with the folder, so the rows are taken out of them here.
        found = load_table(spark, spec.target.ref.path)
        return Ran(rows=found.collect(), columns=found.columns, error=result.error, checks=checks)


def _moved(spec: PipelineSpec, folder: str) -> PipelineSpec:
    places: dict[str, str] = {}

    def moved(ref: TableRef) -> TableRef:
        # By number: two tables may have the same last name, and a path may be a URI.
        return TableRef(ref.name, places.setdefault(ref.path, str(Path(folder) / f"table_{len(places)}")))

    checks = tuple(
        replace(check, rule=replace(check.rule, path=moved(TableRef(check.rule.table, check.rule.path)).path))
        if isinstance(check.rule, ReferenceRule)
        else check
        for check in spec.checks
    )
    # A case needs no HBase: a record index finds a key in another partition as well, and moves it alike.
    index = spec.index if spec.index.hbase is None else _IN_PLACE_OF_HBASE
    kept = _ONE_FILE_GROUP if index.type == "RECORD_INDEX" else _UNLISTED
    return replace(
        spec,
        index=index,
        source=_as_table(spec, moved(spec.source.table)),
        inputs=tuple(replace(item, table=moved(item.table)) for item in spec.inputs),
        target=replace(spec.target, ref=moved(spec.target.ref)),
        quarantine=moved(spec.quarantine),
        checks=checks,
        # Nobody else reads or writes these tables.
        readers=(),
        co_writers=(),
        write_options={**spec.write_options, **_CHEAP, **kept},
    )


def _as_table(spec: PipelineSpec, ref: TableRef) -> SourceSpec:
    if not isinstance(spec.source, RecordsSpec):
        return replace(spec.source, table=ref)
    # A case needs no cluster: its records are rows of a table, and one that deletes is a row that was deleted.
    return SourceSpec(
        table=ref,
        max_commits=DEFAULT_MAX_COMMITS,
        missing_checkpoint="READ_UPTO_LATEST_COMMIT",
        full_scan_when_expired=False,
        incremental_format="cdc" if passes_deletes_on(spec) else "latest_state",
    )


def _land_all(spark: SparkSession, spec: PipelineSpec, case: Case, shapes: Mapping[str, Shape]) -> None:
    source, target = spec.source.table, spec.target.ref
    given = {name: rows.rows for name, rows in case.given.items()}
    changed = given.pop(SOURCE, ())
    gone = [row for row in changed if row.get(IS_DELETED)]
    before: dict[str, list[Mapping[str, Any]]] = {source.path: [{**row, IS_DELETED: None} for row in gone], target.path: []}
    known = tables_of(spec)
    for name, ref in known.items():
        before.setdefault(ref.path, []).extend(given.get(name, ()))
    before[target.path].extend(case.target.rows if case.target else ())
    deletes = passes_deletes_on(spec)
    for name, ref in known.items():
        if ref.path in before and ref.path != target.path:
            shape = _with_key(spec, name, shapes)
            _land(spark, ref, shape, before.pop(ref.path), "upsert", deletes and ref.path == source.path)
    _land_target(spark, spec, before[target.path])
    shape = _with_key(spec, SOURCE, shapes)
    live = [{**row, IS_DELETED: None} for row in changed if not row.get(IS_DELETED)]
    for rows, operation in ((live, "upsert"), (gone, "delete")):
        if rows:
            _land(spark, source, shape, rows, operation, deletes)


def _with_key(spec: PipelineSpec, name: str, shapes: Mapping[str, Shape]) -> Shape:
    # What has none is refused before Spark starts.
    return with_key(shapes[name], spec.target.record_key) or shapes[name]


def _land(
    spark: SparkSession,
    ref: TableRef,
    shape: Shape,
    rows: Sequence[Mapping[str, Any]],
    operation: str,
    cdc: bool,
) -> None:
    columns = [c for c in shape.columns if c.name != IS_DELETED]
    options = {
        **_CHEAP,
        **_UNLISTED,
        "hoodie.table.name": ref.name.split(".")[-1].replace("/", "_"),
        "hoodie.datasource.write.recordkey.field": ",".join(shape.record_key),
        "hoodie.datasource.write.partitionpath.field": ",".join(shape.partition_by),
        "hoodie.datasource.write.precombine.field": shape.ordering,
        "hoodie.datasource.write.operation": operation,
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
        **({"hoodie.table.cdc.enabled": "true"} if cdc else {}),
    }
    options = {key: value for key, value in options.items() if value}
    frame_of(spark, columns, rows).write.format("hudi").options(**options).mode("append").save(ref.path)


def _land_target(spark: SparkSession, spec: PipelineSpec, rows: Sequence[Mapping[str, Any]]) -> None:
    source = TimelineState().table(spec.source.table)
    assert source is not None
    read = Checkpoint({MAIN: HudiPosition(instant=source.commits[-1].completed, table=spec.source.table.path)})
    stage = commit_stage(spec, Window(kind="override", reason="rows of a test case"), read, creates=True)
    # Whatever the pipeline itself does with its rows, these are to stand there.
    batch = frame_of(spark, spec.target.columns, rows)
    write_commit(batch, replace(stage, operation="upsert"), new_run_id())


def _of_error(error: FreshetError | None) -> list[dict[str, object]]:
    # A run that a check ended says in its error what became of each.
    found = error.details.get("checks") if error else None
    return found if isinstance(found, list) else []
