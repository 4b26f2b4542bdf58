"""What a backfill has done by the table's own account, and what one chunk reads and writes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any

import pytest

from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import BackfillPlan, ChunkStatus, compile_chunk, compile_failure, plan_backfill
from freshet.backfill.record import ChunkRecord, ChunkState, chunk_commits, encode_chunk, touched_between
from freshet.errors import StateError
from freshet.hudi.checkpoint import (
    BACKFILL_KEY,
    BACKFILL_LOGIC_KEY,
    CHECKPOINT_KEY,
    FINGERPRINT_KEY,
    LOGIC_KEY,
    PIPELINE_KEY,
    STREAMER_V2_KEY,
    encode,
)
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.stages import Commit, Precondition
from freshet.project.model.logic import Part
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.project.model.steps import BackfillSpec
from freshet.sources.hudi.reads import ReadPartitions, ReadRange, ReadSnapshot
from tests.kit.memory import CITIES, SOURCE, TARGET, Loaded, a_checkpoint, a_commit, a_spec, a_table_state, a_target, at

NAME = "2026-01-05T00:00:00/2026-01-08T00:00:00/1d"
DAYS = ("2026-01-05", "2026-01-06", "2026-01-07")
OCC = "OPTIMISTIC_CONCURRENCY_CONTROL"
NBCC = "NON_BLOCKING_CONCURRENCY_CONTROL"
LOOKED_UP = a_table_state([a_commit(4)], ref=CITIES)


def declared(write: str = "upsert", mode: str = OCC, **changes: Any) -> PipelineSpec:
    backfill = BackfillSpec(event_time={"SRC": "updated_at"}, partition="day", granularity="day", write=write)  # type: ignore[arg-type]
    return a_spec(**{"backfill": backfill, "write_options": {"hoodie.write.concurrency.mode": mode}, **changes})


def a_chunk(
    completed: int,
    day: int,
    state: ChunkState = "done",
    *,
    write: str = "upsert",
    base: int = 1,
    name: str = NAME,
    pipeline: str = "earnings",
    fingerprint: str = "0123456789abcdef",
    **info: Any,
) -> Loaded:
    """Return the commit of one chunk, ``day`` days into the range."""
    end = f"2026-01-0{6 + day}"
    record = ChunkRecord(
        backfill=name,
        start=f"2026-01-0{5 + day}T00:00:00",
        end=f"{end}T00:00:00",
        chunks=3,
        state=state,
        base=at(base),
        write=write,
        error="OVERFLOW" if state == "failed" else "",
    )
    return a_commit(completed, extra={PIPELINE_KEY: pipeline, FINGERPRINT_KEY: fingerprint, **encode_chunk(record)}, **info)


def target(*commits: Loaded, archived: tuple[Loaded, ...] = ()) -> TableState:
    first = a_commit(2, extra=encode(a_checkpoint(10)))
    return a_table_state((first, *commits), ref=TARGET, archived=archived)


def lake(of: TableState | None) -> MemoryState:
    tables = [a_table_state([a_commit(10), a_commit(20)]), LOOKED_UP, *([of] if of else [])]
    return MemoryState({table.ref.path: table for table in tables})


def planned(
    of: TableState | None, spec: PipelineSpec | None = None, start: str = DAYS[0], end: str = "2026-01-08", **request: Any
) -> BackfillPlan:
    wanted = BackfillRequest(start=datetime.fromisoformat(start), end=datetime.fromisoformat(end), **request)
    return plan_backfill(spec or declared(), lake(of), wanted)


def statuses(plan: BackfillPlan) -> list[tuple[ChunkStatus, bool]]:
    return [(one.status, one.wanted) for one in plan.chunks]


def code(*arguments: Any, **request: Any) -> str:
    with pytest.raises(StateError) as raised:
        planned(*arguments, **request)
    return raised.value.code


def test_nothing_done_yet() -> None:
    plan = planned(target())
    assert (plan.name, plan.write, plan.concurrency) == (NAME, "upsert", OCC)
    assert statuses(plan) == [("todo", True)] * 3
    assert [one.label for one in plan.chunks] == [f"{day} to 2026-01-0{n}" for n, day in enumerate(DAYS, 6)]


@pytest.mark.parametrize("mode", [OCC, NBCC])
def test_beside_a_writer_a_chunk_neither_compacts_nor_clusters(mode: str) -> None:
    """Nor does the commit that says a chunk failed: two writers at one compaction spoil the table (Hudi 1.0.2)."""
    spec = declared(mode=mode)
    plan = planned(target(), spec)
    stages = (
        compile_chunk(spec, lake(target()), plan, plan.chunks[0].chunk).stages[-1],
        compile_failure(spec, lake(target()), plan, plan.chunks[0].chunk, "OVERFLOW").stages[-1],
    )
    for commit in stages:
        assert isinstance(commit, Commit)
        assert {commit.options[f"hoodie.{service}.inline"] for service in ("compact", "clustering")} == {"false"}


@pytest.mark.parametrize(
    ("reprocess", "wanted"), [("none", (False, False, True)), ("failed", (False, True, True)), ("all", (True, True, True))]
)
def test_resumed_from_the_table_alone(reprocess: str, wanted: tuple[bool, ...]) -> None:
    plan = planned(target(a_chunk(30, 0), a_chunk(40, 1, "failed")), reprocess=reprocess)
    assert statuses(plan) == list(zip(("done", "failed", "todo"), wanted, strict=True))
    assert [one.error for one in plan.chunks] == ["", "OVERFLOW", ""]
    assert (plan.count("done"), plan.count("failed"), plan.count("todo")) == (1, 1, 1)


def test_the_newest_word_on_a_chunk_counts_and_the_archive_is_asked() -> None:
    mended = planned(target(a_chunk(30, 0, "failed"), a_chunk(40, 0)))
    assert mended.chunks[0].status == "done"
    spoilt = planned(target(a_chunk(30, 0, "failed"), archived=(a_chunk(1, 0), a_chunk(1, 2))))
    assert [one.status for one in spoilt.chunks] == ["failed", "todo", "done"]


@pytest.mark.parametrize("other", [{"name": NAME.replace("1d", "24h")}, {"pipeline": "refunds"}])
def test_chunks_of_another_backfill_or_pipeline_are_not_ours(other: dict[str, str]) -> None:
    assert statuses(planned(target(a_chunk(30, 0, **other)))) == [("todo", True)] * 3


def test_files_changed_in_between() -> None:
    older = target(a_chunk(30, 0, fingerprint="feedfeed"), a_chunk(40, 1))
    with pytest.raises(StateError) as raised:
        planned(older)
    assert raised.value.code == "BACKFILL_FINGERPRINT_CHANGED"
    assert "1 of 3 chunks" in raised.value.message
    assert statuses(planned(older, accept_changes=True)) == [("done", False), ("done", False), ("todo", True)]
    assert statuses(planned(older, reprocess="all")) == [("done", True), ("done", True), ("todo", True)]


def logic_of(sql: str, **changes: Any) -> PipelineSpec:
    """Return a pipeline whose files say this, as the fingerprint has it too."""
    return declared(logic=(Part("a.sql", "sql", sql),), fingerprint=sha256(sql.encode()).hexdigest()[:16], **changes)


def done_by(spec: PipelineSpec, before: str = "") -> tuple[Loaded, ...]:
    """Return the commits of a chunk that is done and of one that failed, as freshet writes them.

    Args:
        spec: The pipeline.
        before: What the freshet that wrote them did not write yet: ``""``, ``no digest`` or ``no record``.
    """
    plan = plan_backfill(
        spec, lake(target()), BackfillRequest(start=datetime(2026, 1, 5), end=datetime(2026, 1, 8)), spec.logic
    )
    left_out = {"": (), "no digest": (BACKFILL_LOGIC_KEY,), "no record": (BACKFILL_LOGIC_KEY, LOGIC_KEY)}[before]
    made = (
        compile_chunk(spec, lake(target()), plan, plan.chunks[0].chunk),
        compile_failure(spec, lake(target()), plan, plan.chunks[1].chunk, "OVERFLOW"),
    )
    return tuple(
        a_commit(30 + 10 * number, extra={k: v for k, v in commit_of(one).metadata.items() if k not in left_out})
        for number, one in enumerate(made)
    )


SQL, COMMENTED, OTHER = "SELECT 1", "SELECT 1 -- why", "SELECT 2"


@pytest.mark.parametrize(
    ("chunks", "before", "comment", "change"),
    [
        ("both", "", False, True),
        ("done", "", False, True),
        ("failed", "", False, True),
        ("done", "no digest", False, True),
        ("failed", "no digest", True, True),
        ("both", "no record", True, True),
    ],
)
def test_a_changed_comment_is_no_changed_file(chunks: str, before: str, comment: bool, change: bool) -> None:
    """A chunk's commit tells the digest of the logic; one of before tells the fingerprint, and a done one its rows' logic."""
    every = done_by(logic_of(SQL), before)
    commits = {"both": every, "done": every[:1], "failed": every[1:]}[chunks]
    for sql, asks in ((SQL, False), (COMMENTED, comment), (OTHER, change)):
        spec, request = logic_of(sql), BackfillRequest(start=datetime(2026, 1, 5), end=datetime(2026, 1, 8))
        with pytest.raises(StateError, match="BACKFILL_FINGERPRINT_CHANGED") if asks else nullcontext():
            plan_backfill(spec, lake(target(*commits)), request, spec.logic)


def test_another_range_of_rows_is_a_change_though_no_file_of_the_logic_says_so() -> None:
    """By which column a chunk's rows are found, and how they are written; of one of before that is not known."""
    other = [
        BackfillSpec(event_time={"SRC": "created_at"}, partition="day", granularity="day", write="upsert"),
        BackfillSpec(event_time={"SRC": "updated_at", "cities": "since"}, partition="day", granularity="day", write="upsert"),
        BackfillSpec(event_time={"SRC": "updated_at"}, partition="day", granularity="day", write="insert_overwrite"),
    ]
    for how in other:
        assert code(target(*done_by(logic_of(SQL))), logic_of(SQL, backfill=how)) == "BACKFILL_FINGERPRINT_CHANGED"
        assert planned(target(*done_by(logic_of(SQL), "no record")), logic_of(SQL, backfill=how)).count("done") == 1
    same = BackfillSpec(event_time={"cities": "since", "SRC": "updated_at"}, partition="day", granularity="day", write="upsert")
    assert planned(target(*done_by(logic_of(SQL, backfill=other[1]))), logic_of(SQL, backfill=same)).count("done") == 1


def test_files_that_say_the_same_are_the_same_whatever_becomes_of_the_digest() -> None:
    """A later freshet may take another digest of the same logic."""
    done, failed = done_by(logic_of(SQL))
    kept = {**done[1].extra, BACKFILL_LOGIC_KEY: "0" * 16 + "/" + done[1].extra[BACKFILL_LOGIC_KEY].rpartition("/")[2]}
    assert planned(target((done[0], replace(done[1], extra=kept)), failed), logic_of(SQL)).count("done") == 1


def test_files_changed_after_the_whole_range_was_done_is_said_too() -> None:
    assert code(target(*(a_chunk(30 + n, n, fingerprint="feedfeed") for n in range(3)))) == "BACKFILL_FINGERPRINT_CHANGED"


def test_a_failed_chunk_may_be_mended_by_changed_files() -> None:
    failed = target(a_chunk(30, 0, "failed", fingerprint="feedfeed"))
    assert code(failed) == "BACKFILL_FINGERPRINT_CHANGED"
    assert statuses(planned(failed, reprocess="failed")) == [("failed", True), ("todo", True), ("todo", True)]


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ((35, (DAYS[0],)), "overwritten"),
        ((35, (f"day={DAYS[0]}",)), "overwritten"),
        ((35, (DAYS[1],)), "done"),
        ((35, ()), "done"),
        ((45, (DAYS[0],)), "done"),
        ((5, (DAYS[0],)), "done"),
    ],
)
def test_a_replaced_partition_that_another_commit_touched(between: tuple[int, tuple[str, ...]], expected: str) -> None:
    completed, partitions = between
    other = a_commit(completed, partitions=partitions)
    chunk = a_chunk(40, 0, write="insert_overwrite", base=30, action="replacecommit", operation="INSERT_OVERWRITE")
    plan = planned(target(other, chunk), declared("insert_overwrite"))
    assert plan.chunks[0].status == expected
    assert plan.chunks[0].wanted == (expected == "overwritten")
    upserted = planned(target(other, a_chunk(40, 0, base=30)))
    assert upserted.chunks[0].status == "done", "by upsert, key and ordering field decide"


def test_partitions_of_several_columns() -> None:
    table = target(a_commit(35, partitions=("berlin/2026-01-05",)), a_commit(36, partitions=("city=oslo/day=2026-01-05",)))
    assert touched_between(table, at(30), "9", ("2026-01-05",)) == [at(35), at(36)]
    assert touched_between(table, at(30), "9", ("2026-01-06",)) == []
    assert touched_between(table, at(30), at(36), ()) == [at(35)], "both ends are exclusive"


def test_what_forbids_a_backfill() -> None:
    assert code(target(), declared(backfill=None)) == "BACKFILL_NOT_DECLARED"
    assert code(None) == "TARGET_MISSING"
    assert code(target(), declared(write_options={})) == "SINGLE_WRITER"
    unreadable = a_commit(30, extra={BACKFILL_KEY: '{"version": 9}', PIPELINE_KEY: "earnings"})
    assert code(target(unreadable)) == "BACKFILL_UNREADABLE"


def compiled(spec: PipelineSpec, *commits: Loaded) -> Any:
    state = lake(target(*commits))
    plan = planned(target(*commits), spec)
    return compile_chunk(spec, state, plan, plan.chunks[1].chunk)


def commit_of(plan: Any) -> Commit:
    (found,) = [stage for stage in plan.stages if isinstance(stage, Commit)]
    return found


def test_a_chunk_reads_its_range_of_a_fixed_version() -> None:
    plan = compiled(declared())
    assert plan.stages[0] == ReadRange(
        view="SRC", table=SOURCE, as_of=at(20), column="updated_at", start="2026-01-06T00:00:00", end="2026-01-07T00:00:00"
    )
    assert plan.stages[1] == ReadSnapshot(view="cities", table=CITIES, as_of=at(4))


@pytest.mark.parametrize(
    ("pending", "as_of"),
    [
        ((at(15),), ""),
        ((at(19),), at(18)),
        ((at(21),), at(20)),
        ((), at(20)),
    ],
    ids=["overtaken", "as it was overtaken", "after all", "none"],
)
def test_a_version_that_hudi_shows_beside_a_commit_that_has_not_completed(pending: tuple[str, ...], as_of: str) -> None:
    """Kind: whatever of another table a chunk reads at a fixed time: the source's range, an input's, partitions, a snapshot.

    Where a pending commit was overtaken there is no such time: the table is read as it stands.
    """
    tables = {
        SOURCE.path: a_table_state([a_commit(10), a_commit(20, requested=18)]),
        TARGET.path: target(),
        CITIES.path: a_table_state([a_commit(10), a_commit(20, requested=18)], ref=CITIES),
    }
    state = MemoryState({path: replace(one, pending=pending if path != TARGET.path else ()) for path, one in tables.items()})
    by_partition = InputSpec(name="cities", table=CITIES, read="affected_partitions", line=7, on=(("day", ("day",)),))
    cut = BackfillSpec(event_time={"SRC": "updated_at", "cities": "since"}, partition="", granularity="day", write="upsert")
    for changes in ({}, {"inputs": (by_partition,)}, {"backfill": cut}):
        spec = declared(**changes)
        plan = plan_backfill(spec, state, BackfillRequest(start=datetime(2026, 1, 5), end=datetime(2026, 1, 6)))
        chunk = compile_chunk(spec, state, plan, plan.chunks[0].chunk)
        assert [stage.as_of for stage in chunk.stages[:2]] == [as_of] * 2  # type: ignore[union-attr]


def test_an_input_is_cut_too_or_read_by_partitions() -> None:
    cut = declared(
        backfill=BackfillSpec(
            event_time={"SRC": "updated_at", "cities": "since"}, partition="", granularity="day", write="upsert"
        )
    )
    assert compiled(cut).stages[1] == ReadRange(
        view="cities", table=CITIES, as_of=at(4), column="since", start="2026-01-06T00:00:00", end="2026-01-07T00:00:00"
    )
    one = InputSpec(name="cities", table=CITIES, read="affected_partitions", line=7, on=(("day", ("day",)),))
    assert isinstance(compiled(declared(inputs=(one,))).stages[1], ReadPartitions)


def test_a_chunks_commit_carries_its_record_and_no_checkpoint() -> None:
    commit = commit_of(compiled(declared(), a_commit(30)))
    assert not {CHECKPOINT_KEY, STREAMER_V2_KEY} & set(commit.metadata)
    state = a_table_state([a_commit(50, extra=dict(commit.metadata))], ref=TARGET)
    (found,) = chunk_commits(state, "earnings")
    assert found.record == ChunkRecord(
        backfill=NAME,
        start="2026-01-06T00:00:00",
        end="2026-01-07T00:00:00",
        chunks=3,
        state="done",
        base=at(30),
        write="upsert",
    )
    assert found.fingerprint == "0123456789abcdef"
    assert (commit.checkpoint, commit.empty) == (None, False)


@pytest.mark.parametrize(
    ("write", "mode", "guard"),
    [
        ("upsert", OCC, Precondition(at(30), (DAYS[1],), False)),
        ("insert_overwrite", OCC, Precondition(at(30), (DAYS[1],), True)),
        ("upsert", NBCC, None),
    ],
)
def test_what_guards_a_chunk(write: str, mode: str, guard: Precondition | None) -> None:
    commit = commit_of(compiled(declared(write, mode), a_commit(30)))
    assert commit.guard == guard
    overwritten = commit.options.get("hoodie.static.overwrite.partition.paths")
    assert overwritten == (DAYS[1] if write == "insert_overwrite" else None)


def test_a_failed_chunk_is_a_commit_without_rows() -> None:
    spec = declared("insert_overwrite")
    plan = planned(target(), spec)
    failure = compile_failure(spec, lake(target()), plan, plan.chunks[0].chunk, "OVERFLOW")
    commit = commit_of(failure)
    assert (commit.empty, commit.guard, len(failure.stages)) == (True, None, 1)
    assert "hoodie.static.overwrite.partition.paths" not in commit.options
    (found,) = chunk_commits(a_table_state([a_commit(50, extra=dict(commit.metadata))], ref=TARGET), "earnings")
    assert (found.record.state, found.record.error) == ("failed", "OVERFLOW")


def test_the_chunk_is_checked_against_the_table_as_a_run_is() -> None:
    spec = declared()
    moved = a_target((2, a_checkpoint(10)), partition_by=("city",))
    plan = planned(moved, spec)
    with pytest.raises(StateError) as raised:
        compile_chunk(spec, lake(moved), plan, plan.chunks[0].chunk)
    assert raised.value.code == "PARTITIONING_CHANGED"
