"""Make a target's global index: with the first load, or from the rows that stand there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from freshet.errors import FreshetError, StateError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener
from freshet.hudi.checkpoint import INDEX_KEY
from freshet.hudi.table import StateReader
from freshet.index.hbase.building import Built, Layout, build_index
from freshet.index.hbase.cluster import connect, new_generation
from freshet.index.hbase.entries import has_record_index
from freshet.index.hbase.opening import Opened, allowed, checked_table, marks_of, recorded_generation
from freshet.index.ops.work import Work, index_work, require_rows
from freshet.plan.compile import compile_bootstrap
from freshet.plan.index_record import index_in_words, is_index
from freshet.plan.parts import commit_stage
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import HBaseSpec, PipelineSpec, Project
from freshet.run.runner import run_once
from freshet.sinks.commit import empty_batch, write_commit
from freshet.sources.hudi.reads import Window


@dataclass(frozen=True, kw_only=True)
class IndexResult:
    """What was done to an index.

    Args:
        pipeline: The pipeline.
        done: What was done, in words.
        index: Its type.
        rows: Rows loaded by a bootstrap.
        entries, hfiles, bytes: Of an HBase index that was made.
        seconds: Wall time, by step.
    """

    pipeline: str
    done: str
    index: str
    rows: int = 0
    entries: int = 0
    hfiles: int = 0
    bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return dict(vars(self))


def bootstrap_index(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    layout: Layout,
    planned: Callable[[], Plan] | None = None,
) -> IndexResult:
    """Load a target for the first time without looking a key up, then make its index, where that is not the buckets.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        layout: How HFiles are written.
        planned: Makes the plan of the load; None for that of an ordinary first one.

    Raises:
        StateError: TARGET_NOT_EMPTY, or what a first run is refused for.
        FreshetError: The load or the making failed; the same command goes on from there.
    """
    with index_work(project, spec, state, listen) as work:
        seconds: dict[str, float] = {}
        rows, target = 0, state.table(spec.target.ref)
        ours = (
            bool(recorded_generation(target))
            if spec.index.hbase is not None
            else (target is not None and is_index(target.latest_extra(INDEX_KEY) or "{}", spec))
        )
        if not ours:
            start = time.monotonic()
            done = run_once(
                project,
                spec,
                state,
                work.listen,
                planned or (lambda: compile_bootstrap(spec, state)),
                work.session,
                is_watched=True,
            )
            rows, seconds["load"] = done.inserts, round(time.monotonic() - start, 3)
            if done.outcome == "idle":
                return IndexResult(pipeline=spec.name, done=f"nothing to do: {done.reason}", index=spec.index.type)
        target = require_rows(spec, state)
        if spec.index.hbase is None:
            if spec.index.is_global and not has_record_index(work.spark, target.ref.path):
                start = time.monotonic()
                make_record_index(work, "bootstrapped")
                seconds["index"] = round(time.monotonic() - start, 3)
            there = "the index is there" if spec.index.is_global else "the table is loaded"
            said = "bootstrapped" if seconds else f"nothing to do: {there}"
            return IndexResult(pipeline=spec.name, done=said, index=spec.index.type, rows=rows, seconds=seconds)
        with connect(work.spark, spec.index.hbase) as cluster:
            found = checked_table(spec, cluster)
        if found is not None and found.state == "ready" and found.generation == recorded_generation(target):
            return IndexResult(pipeline=spec.name, done="nothing to do: the index is there", index=spec.index.type)
        start = time.monotonic()
        built = index_after_load(work, layout)
        seconds["index"] = round(time.monotonic() - start, 3)
        return result_of(spec, "bootstrapped", built, seconds, rows)


def index_after_load(work: Work, layout: Layout | None = None) -> Built:
    """Make an HBase index from the rows of a load that asked it nothing, under the generation that its commit names."""
    assert work.spec.index.hbase is not None
    target = require_rows(work.spec, work.state)
    with connect(work.spark, work.spec.index.hbase) as cluster, work.session.writing(work.spark):
        return build_index(
            work.spark,
            cluster,
            target.ref,
            marks_of(work.spec, recorded_generation(target)),
            layout or Layout(),
            work.phase,
            target.has_no_logs,
        )


def rebuild_index(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    layout: Layout,
    to: HBaseSpec | None = None,
) -> IndexResult:
    """Make a target's HBase index anew from its rows alone, here or on another cluster.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        layout: How HFiles are written.
        to: The other cluster; None for the one that the files name.

    Raises:
        StateError: NO_HBASE_INDEX, TARGET_MISSING, or the index table belongs to another dataset.
        FreshetError: The making failed; the same command begins it anew.
    """
    if spec.index.hbase is None:
        raise StateError(
            "NO_HBASE_INDEX",
            f"{spec.name}: the index {spec.index.type} of {spec.target.ref.path} is part of the table.",
            "Nothing was done.",
            f"Where it differs from the rows: freshet index verify {spec.name} --repair",
        )
    hbase = to or spec.index.hbase
    spec = replace(spec, index=replace(spec.index, hbase=hbase))
    require_rows(spec, state)
    with index_work(project, spec, state, listen) as work:
        target = require_rows(spec, state)
        recorded = target.latest_extra(INDEX_KEY)
        if recorded is not None and not is_index(recorded, spec):
            raise _migrate_instead(spec, recorded)
        start = time.monotonic()
        built = make_index(work, spec, hbase, layout)
        return result_of(spec, f"rebuilt on {hbase.cluster}", built, {"index": round(time.monotonic() - start, 3)})


def make_record_index(work: Work, reason: str) -> None:
    """Make a record index from the table's base files: Hudi does, with the commit of a writer that keeps one, where none is."""
    work.phase("making the record index")
    commit = commit_stage(work.spec, Window(kind="index", reason=reason), None, empty=True)
    # An upsert looks keys up, though there are none; where the index is only being made, Hudi reads the whole table for that.
    # So the index of 4 million rows took 153 to 173 s, and takes 111 to 118 s (2 cores).
    commit = replace(commit, operation="insert")
    with work.session.writing(work.spark):
        work.session.confirm()
        write_commit(empty_batch(work.spark, work.spec.target.columns), commit, new_run_id())


def make_index(work: Work, spec: PipelineSpec, hbase: HBaseSpec, layout: Layout) -> Built:
    """Make an HBase index and note its generation in a commit of the table, from which on runs write through it."""
    generation = new_generation()
    with connect(work.spark, hbase) as cluster, work.session.writing(work.spark):
        checked_table(spec, cluster)
        target = require_rows(spec, work.state)
        built = build_index(work.spark, cluster, target.ref, marks_of(spec, generation), layout, work.phase, target.has_no_logs)
        rates = allowed(work.spark, spec, hbase, work.state, cluster.servers(), generation)
        cluster.classes.Cluster.hudiTalksTo(hbase.cluster, (work.spark.sparkContext.master or "").startswith("local"))
        opened: Opened = replace(rates, rows=built.entries)
        commit = commit_stage(spec, Window(kind="index", reason="index made"), None, empty=True)
        work.session.confirm()
        # Killed before this commit, the next run is refused: it knows another generation.
        write_commit(
            empty_batch(work.spark, spec.target.columns),
            commit,
            new_run_id(),
            rates=opened.options(commit.options),
            metadata=opened.metadata(),
        )
    return built


def result_of(
    spec: PipelineSpec,
    done: str,
    built: Built,
    seconds: dict[str, float],
    rows: int = 0,
) -> IndexResult:
    """Return what is told of an HBase index that was made."""
    return IndexResult(
        pipeline=spec.name,
        done=done,
        index=spec.index.type,
        rows=rows,
        entries=built.entries,
        hfiles=built.hfiles,
        bytes=built.bytes,
        seconds=seconds,
    )


def _migrate_instead(spec: PipelineSpec, recorded: str) -> FreshetError:
    return StateError(
        "INDEX_CHANGED",
        f"{spec.name}: {spec.target.ref.path} was written with another index: {index_in_words(recorded, spec)}.",
        "Nothing was done.",
        f"Move it to the one that the files name: freshet index migrate {spec.name} --to {spec.index.type.lower()}",
    )
