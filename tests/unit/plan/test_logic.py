"""By which logic a target's rows were made, by its commits alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.backfill.chunks import BackfillRequest
from freshet.backfill.plan import compile_chunk, compile_failure, plan_backfill
from freshet.hudi.checkpoint import LOGIC_KEY, ORIGIN_KEY, PIPELINE_KEY
from freshet.hudi.keys.options import CONCURRENCY
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.logic import known_logic, with_logic
from freshet.plan.logic_record import SEVERAL, UNKNOWN, LogicRecord, Standing, decode_record, encode_record
from freshet.plan.replay import compile_replay
from freshet.plan.stages import Commit
from freshet.project.model.logic import Part, digest_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.steps import BackfillSpec
from freshet.status.logic_report import LogicReport, logic_in_short, logic_lines, report_logic
from tests.kit.memory import SOURCE, TARGET, Loaded, a_checkpoint, a_commit, a_spec, a_table_state, a_target, at

DAYS = tuple(f"2026-01-{day:02d}" for day in range(1, 32))


def spec_of(logic: str, **changes: Any) -> PipelineSpec:
    backfill = BackfillSpec(event_time={"SRC": "updated_at"}, partition="day", granularity="day", write="upsert")
    return a_spec(
        **{
            "logic": (Part("transformers/a.sql", "json", logic), Part("ddl/a.sql", "json", "{}")),
            "backfill": backfill,
            "write_options": {CONCURRENCY: "OPTIMISTIC_CONCURRENCY_CONTROL"},
            **changes,
        }
    )


def digest(logic: str) -> str:
    return digest_of(spec_of(logic).logic)


@dataclass
class Table:
    """A target to which a pipeline commits, its older commits in the archive."""

    commits: list[Loaded] = field(default_factory=list)
    active: int = 30
    moment: int = 10
    asked: list[str] = field(default_factory=list)

    def state(self) -> TableState:
        made = a_table_state(self.commits[-self.active :], ref=TARGET, archived=self.commits[: -self.active])

        def load_archived(after: str, without: frozenset[str] = frozenset()) -> Sequence[Loaded]:
            self.asked.append(after)
            return made.load_archived(after, without)

        return replace(made, load_archived=load_archived)

    def put(self, partitions: Sequence[str], extra: dict[str, str] | None = None, operation: str = "UPSERT") -> None:
        self.moment += 10
        self.commits.append(a_commit(self.moment, operation=operation, partitions=tuple(partitions), extra=extra or {}))

    def planned(self, logic: str, origin: str = "increment", **record: Any) -> dict[str, str]:
        """Return the metadata of a commit that is planned now."""
        spec = spec_of(logic)
        commit = Commit(table=TARGET, operation="upsert", options={}, metadata={PIPELINE_KEY: spec.name, ORIGIN_KEY: origin})
        return dict(with_logic(commit, spec, self.state() if self.commits else None, **record).metadata)

    def run(self, logic: str, *partitions: str, origin: str = "increment", operation: str = "UPSERT", **record: Any) -> None:
        self.put(partitions, self.planned(logic, origin, **record), operation)

    def load(self, logic: str, *partitions: str) -> None:
        self.run(logic, *partitions, origin="whole_table", whole=True)

    def held(self) -> dict[str, str]:
        known = known_logic(spec_of("A"), self.state())
        assert known is not None
        assert known.standing.held is not None
        return dict(known.standing.held)

    def report(self, logic: str, **changes: Any) -> LogicReport:
        found = report_logic(spec_of(logic, **changes), MemoryState({TARGET.path: self.state()}))
        assert found is not None
        return found


def test_nothing_to_say_where_every_row_is_of_the_present_logic() -> None:
    table = Table()
    assert report_logic(spec_of("A"), MemoryState({})) is None
    table.load("A", *DAYS[:3])
    table.run("A", DAYS[2], DAYS[3])
    report = table.report("A")
    assert (report.known, report.changed, report.older, report.complete, report.command) == (True, False, (), True, "")
    assert (logic_lines(report), logic_in_short(report)) == ([], "")


def test_changed_and_not_yet_run() -> None:
    table = Table()
    table.load("A", *DAYS)
    table.run("A", DAYS[-1])
    report = table.report("B")
    assert (report.changed, report.since, report.parts) == (True, at(30), ("transformers/a.sql",))
    assert (report.first, report.last, report.periods) == (DAYS[0], DAYS[-1], {"older": 31, "unknown": 0})
    assert report.command == "freshet backfill earnings --start 2026-01-01 --end 2026-02-01"
    now = datetime(2026, 8, 1, 10, 18, 0, tzinfo=timezone.utc)
    assert logic_lines(report, now) == [
        "changed since the commit of 2026-08-01 10:15:00Z (3 min ago): transformers/a.sql",
        "31 days still hold rows of an older logic; 2026-01-01 to 2026-01-31",
        "to renew them: freshet backfill earnings --start 2026-01-01 --end 2026-02-01",
    ]
    assert table.report("A").older == (), "what was put back has not changed"
    one = Table()
    one.load("A", DAYS[0])
    assert logic_lines(one.report("B"), now)[1:] == [
        "1 day still holds rows of an older logic; 2026-01-01",
        "to renew it: freshet backfill earnings --start 2026-01-01 --end 2026-01-02",
    ]


def test_an_increment_renews_no_partition_that_stood_before() -> None:
    table = Table()
    table.load("A", *DAYS[:3])
    table.run("B", DAYS[1], DAYS[5])
    report = table.report("B")
    assert (report.changed, report.since, report.older) == (False, at(20), DAYS[:3])
    assert table.held() == {DAYS[0]: digest("A"), DAYS[1]: SEVERAL, DAYS[2]: digest("A"), DAYS[5]: digest("B")}
    assert "of commits up to 2026-08-01 10:15:00Z" in logic_lines(report)[0]
    assert table.report("A").older == (DAYS[1], DAYS[5])


def test_a_backfill_renews_what_it_computes_whether_rows_came_or_not() -> None:
    """And not what another logic's run wrote between its plan and its commit."""
    table = Table()
    table.load("A", *DAYS[:4])
    table.run("B", DAYS[0], origin="backfill", renews=DAYS[:2])
    assert table.report("B").older == DAYS[2:4]
    chunk = table.planned("B", "backfill", renews=DAYS[2:4])
    table.run("A", DAYS[2])
    table.put(DAYS[2:4], chunk)
    assert table.report("B").older == (DAYS[2],)
    table.active = 1
    assert table.report("B").older == (DAYS[2],), "what came between is in the archive by now"
    table.run("B", DAYS[2], origin="backfill", renews=(DAYS[2],))
    assert table.report("B").older == ()


def test_partitions_of_several_columns_and_of_hive_style() -> None:
    table = Table()
    table.load("A", "berlin/2026-01-01", "day=2026-01-01", "oslo/2026-01-02")
    table.run("B", origin="backfill", renews=("2026-01-01",))
    found = table.report("B", target={"partition_by": ("city", "day")})
    assert (found.older, found.periods["older"], found.first) == (("oslo/2026-01-02",), 1, "2026-01-02")


@pytest.mark.parametrize(
    ("renew", "older"),
    [
        (lambda table: table.load("B", *DAYS[:2]), (DAYS[2],)),
        (lambda table: table.run("B", DAYS[0], operation="INSERT_OVERWRITE_TABLE", origin="whole_table"), ()),
        (lambda table: table.run("B", DAYS[0], whole=True, operation="INSERT_OVERWRITE"), DAYS[1:3]),
        (lambda table: table.put(DAYS[1:3], operation="DELETE_PARTITION"), (DAYS[0],)),
    ],
    ids=["the whole source again", "a full refresh", "a run that overwrites", "partitions dropped"],
)
def test_what_else_renews(renew: Any, older: tuple[str, ...]) -> None:
    table = Table()
    table.load("A", *DAYS[:3])
    renew(table)
    assert (table.report("B").older, table.report("B").unknown) == (older, ())


def test_what_makes_no_row_changes_nothing() -> None:
    """Services, a moved index, checkpoints by hand, other owners' columns."""
    table = Table()
    table.load("A", *DAYS[:2])
    before = table.held()
    table.put(DAYS[:2], operation="CLUSTER")
    table.put(DAYS[:2], {PIPELINE_KEY: "earnings", ORIGIN_KEY: "index"}, "INSERT_OVERWRITE_TABLE")
    table.run("B", origin="override", computes=False)
    table.put(DAYS[:1], {PIPELINE_KEY: "refunds"})
    known = known_logic(spec_of("A", co_writers=("refunds",)), table.state())
    assert known is not None
    assert (known.standing.held, known.standing.digest) == (before, digest("A"))


def test_what_no_commit_tells_is_not_known() -> None:
    """Commits of before there were records, of other writers, of a quarantine's rows, of a record of a later version."""
    table = Table()
    table.put(DAYS[:2], {PIPELINE_KEY: "earnings", ORIGIN_KEY: "whole_table"})
    report = table.report("A")
    assert (report.known, report.older, report.unknown) == (False, (), ())
    assert "not known" in logic_lines(report)[0]
    table.run("A", DAYS[1], DAYS[2])
    report = table.report("A")
    assert (report.known, report.older, report.unknown, report.complete) == (True, (), DAYS[:2], True)
    assert logic_lines(report) == [
        "by which logic 2 days were made is not known; 2026-01-01 to 2026-01-02",
        "to renew them: freshet backfill earnings --start 2026-01-01 --end 2026-01-03",
    ]
    table.run("A", origin="backfill", renews=DAYS[:3])
    assert table.report("A").unknown == ()
    table.run("A", DAYS[0], origin="replay", computes=False)
    table.put([DAYS[1]])
    table.put([DAYS[2]], {**table.planned("A"), LOGIC_KEY: '{"version": 9}'})
    assert table.report("A").unknown == DAYS[:3]


def test_a_history_that_does_not_begin_with_the_table_is_said() -> None:
    table = Table()
    table.put(DAYS[:2], {PIPELINE_KEY: "earnings", ORIGIN_KEY: "increment"})
    table.run("A", DAYS[2])
    table.run("A", DAYS[2], DAYS[3], whole=True)
    assert table.held() == {**dict.fromkeys(DAYS[:2], UNKNOWN), **dict.fromkeys(DAYS[2:4], digest("A"))}
    table.run("A", DAYS[4])
    assert table.held()[DAYS[4]] == UNKNOWN, "it may have been there before what is known began"
    report = table.report("B")
    assert not report.complete
    assert "there may be more of it in partitions that no commit names any longer" in logic_lines(report)


def test_a_table_without_time_partitions_needs_a_full_refresh() -> None:
    """Not partitioned, or by what a backfill does not know; a backfill of ranges leaves it unknown."""
    for path, changes in (
        ("", {"target": {"partition_by": ()}, "backfill": None}),
        ("berlin", {"backfill": None}),
        (
            "",
            {
                "target": {"partition_by": ()},
                "backfill": BackfillSpec(event_time={"SRC": "t"}, partition="", granularity="day", write="upsert"),
            },
        ),
    ):
        table = Table()
        table.load("A", path)
        report = table.report("B", **changes)
        assert (report.older, report.command) == ((path,), "freshet run earnings --full-refresh")
        assert logic_lines(report)[-1] == "to renew it: freshet run earnings --full-refresh"
        table.run("B", path, origin="backfill", ranged=True)
        assert (table.report("B", **changes).older, table.report("B", **changes).unknown) == ((), (path,))


def test_a_long_range_is_renewed_by_months_and_hours_have_their_form() -> None:
    table = Table()
    first = datetime(2025, 1, 1)
    table.load("A", *(f"{first + timedelta(days=n):%Y-%m-%d}" for n in range(90)))
    assert table.report("B").command == "freshet backfill earnings --start 2025-01-01 --end 2025-04-01 --chunk 1mo"
    hours, months = Table(), Table()
    hours.load("A", "2026-01-01-05", "2026-01-01-23")
    alone = table.report("B", write_options={})
    assert alone.command == "freshet run earnings --full-refresh", "one writer takes no backfill beside its runs"
    by_hour = BackfillSpec(event_time={"SRC": "t"}, partition="day", granularity="hour", write="upsert")
    assert hours.report("B", backfill=by_hour).command == (
        "freshet backfill earnings --start 2026-01-01T05:00 --end 2026-01-02T00:00"
    )
    months.load("A", "2025-11", "2025-12")
    report = months.report(
        "B", backfill=BackfillSpec(event_time={"SRC": "t"}, partition="day", granularity="month", write="upsert")
    )
    assert (report.command, report.unit) == ("freshet backfill earnings --start 2025-11-01 --end 2026-01-01", "month")
    odd = Table()
    odd.load("A", "2026-01-01", "__HIVE_DEFAULT_PARTITION__")
    assert odd.report("B").command == "freshet run earnings --full-refresh"


def test_the_archive_is_not_asked_where_a_commit_tells() -> None:
    """Nor do a thousand commits cost more than the newest ones."""
    table = Table(active=3)
    table.load("A", *DAYS)
    for number in range(40):
        table.run("A" if number < 30 else "B", DAYS[number % 31])
    table.asked.clear()
    assert len(table.report("B").older) == 31
    assert table.asked == []


def test_too_many_partitions_are_not_listed_in_each_commit() -> None:
    table = Table()
    table.load("A", *(f"{n * 7919 % 100_003:020d}" for n in range(5_000)))
    table.run("A", DAYS[0])
    assert len(table.planned("A")[LOGIC_KEY]) < 2_000
    table.run("B", DAYS[0])
    report = table.report("B")
    assert (report.known, report.changed, report.older) == (False, False, ())
    assert "not known: the table has more partitions" in logic_lines(report)[0]
    assert [line[:8] for line in logic_lines(table.report("A"))] == ["changed ", "what sta"]
    assert logic_in_short(table.report("A")) == "its logic has changed"


PATHS = st.lists(
    st.one_of(
        st.dates(datetime(2025, 12, 25).date(), datetime(2026, 1, 10).date()).map(str),
        st.integers(0, 30).map(lambda n: f"day={datetime(2026, 1, 30, 20) + timedelta(hours=n):%Y-%m-%d-%H}"),
        st.integers(1, 12).map(lambda n: f"oslo/2026-{n:02d}"),
        st.text("a/=-.2026", max_size=9),
    ),
    unique=True,
)


@settings(deadline=None)
@given(paths=PATHS, digests=st.lists(st.sampled_from(["a", "b", SEVERAL, UNKNOWN]), min_size=1), renews=PATHS)
def test_a_record_is_read_as_it_was_written(paths: list[str], digests: list[str], renews: list[str]) -> None:
    held = {path: digests[number % len(digests)] for number, path in enumerate(paths)}
    record = LogicRecord(
        digest="a",
        base=at(1),
        standing=Standing(held=held, whole=False, digest="b", at=at(2), before=at(3)),
        parts={"x": "1"},
        whole=True,
        renews=tuple(sorted(renews)),
        ranged=True,
    )
    assert decode_record(encode_record(record)) == record


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"version": 2}',
        '{"version": 1, "standing": {}}',
        '{"version": 1, "standing": {"held": {"a": [["2026-01-02", "2026-01-01"]]}}}',
    ],
)
def test_what_is_no_record_tells_nothing(text: str) -> None:
    assert decode_record(text) is None


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["run", "run", "run", "chunk", "replay", "foreign", "load", "refresh"]),
        st.sampled_from("AAB"),
        st.lists(st.sampled_from(DAYS[:5]), max_size=3, unique=True),
        st.integers(0, 2),
    ),
    max_size=14,
)


@settings(deadline=None)
@given(first=st.booleans(), steps=STEPS, active=st.integers(1, 5))
def test_any_history_is_told_as_its_rows_are(first: bool, steps: list[tuple[str, str, list[str], int]], active: int) -> None:
    """Beside a model that keeps each partition's rows by the logic that made them; chunks are planned some commits before."""
    table = Table(active=active)
    rows: dict[str, set[str]] = {day: {digest("A")} for day in DAYS[:3]} if first else {}
    if first:
        table.load("A", *DAYS[:3])
    else:
        table.run("A", origin="start_at_latest", computes=False)
    for kind, logic, days, ahead in steps:
        made = digest(logic)
        match kind:
            case "chunk":
                planned = table.planned(logic, "backfill", renews=tuple(days))
                for number in range(ahead):
                    other = "AB"[number % 2]
                    table.run(other, *days[:1])
                    for day in days[:1]:
                        rows.setdefault(day, set()).add(digest(other))
                # Rows that stood when it was planned are computed again; those that came meanwhile stay beside them.
                table.put(days, planned)
                for day in days:
                    came = {digest("AB"[number % 2]) for number in range(ahead)} if day in days[:1] else set()
                    rows[day] = {made} | came
            case "load":
                table.load(logic, *days)
                rows |= {day: {made} for day in days}
            case "refresh":
                table.run(logic, *days, operation="INSERT_OVERWRITE_TABLE", origin="whole_table")
                rows = {day: {made} for day in days}
            case "run":
                table.run(logic, *days)
            case "replay":
                table.run(logic, *days, origin="replay", computes=False)
            case _:
                table.put(days)
        if kind in ("run", "replay", "foreign"):
            for day in days:
                rows.setdefault(day, set()).add(made if kind == "run" else UNKNOWN)
    # Without a search nobody looks for a record behind commits that have none.
    table.run("A")
    assert table.held() == {
        day: UNKNOWN if UNKNOWN in made else SEVERAL if len(made) > 1 else next(iter(made)) for day, made in rows.items()
    }


def test_each_kind_of_run_tells_what_it_computes() -> None:
    """Increments, first loads, runs that overwrite, checkpoints by hand, rows of the quarantine, chunks."""
    mode = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
    spec = spec_of("A", inputs=(), transform=(), write_options=mode)
    source = a_table_state([a_commit(10), a_commit(20)], ref=SOURCE)
    target = a_target((15, a_checkpoint(10)))
    quarantine = a_table_state([a_commit(12)], ref=spec.quarantine, record_key=("_quarantine_id",))
    first, later = (
        MemoryState({table.ref.path: table for table in tables}) for tables in ((source,), (source, target, quarantine))
    )
    asked = BackfillRequest(start=datetime(2026, 1, 1), end=datetime(2026, 2, 1), chunk="1mo")
    backfill = plan_backfill(spec, later, asked, spec.logic)
    overwriting = replace(spec, operation="insert_overwrite")
    told = {}
    for name, plan in (
        ("increment", compile_plan(spec, later, RunRequest())),
        ("first", compile_plan(spec, first, RunRequest())),
        ("overwrites", compile_plan(overwriting, later, RunRequest())),
        ("by hand", compile_override(spec, later, at(10))),
        ("replay", compile_replay(spec, later, "", ())),
        ("chunk", compile_chunk(spec, later, backfill, backfill.chunks[0].chunk)),
        ("failed", compile_failure(spec, later, backfill, backfill.chunks[0].chunk, "OVERFLOW")),
    ):
        commit = plan.stages[-1]
        assert isinstance(commit, Commit)
        record = decode_record(commit.metadata[LOGIC_KEY])
        assert record is not None
        told[name] = (bool(record.digest), record.whole, record.renews, record.base)
    assert told == {
        "increment": (True, False, (), at(15)),
        "first": (True, True, (), ""),
        "overwrites": (True, True, (), at(15)),
        "by hand": (False, False, (), at(15)),
        "replay": (False, False, (), at(15)),
        "chunk": (True, False, DAYS, at(15)),
        "failed": (False, False, DAYS, at(15)),
    }
    deferred = compile_plan(spec, MemoryState({}), RunRequest(look_at_tables=False)).stages[-1]
    assert isinstance(deferred, Commit)
    assert LOGIC_KEY not in deferred.metadata
