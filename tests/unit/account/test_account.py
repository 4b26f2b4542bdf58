"""Every commit of a source has one fate; what is dropped or applied twice is found, on timelines that real writers left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from freshet.account.model import Account, Edge
from freshet.account.read import accounts_of
from freshet.account.steps import steps_of
from freshet.cli.main import main
from freshet.hudi.checkpoint import CHECKS_KEY, MAIN, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY, Checkpoint, encode
from freshet.hudi.table import MemoryState, TableState
from freshet.hudi.timeline import TimelineState
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import InputSpec, PipelineSpec, TableRef
from freshet.sources.hudi.look.late import position_at
from freshet.sources.kafka.position import KafkaPosition
from tests import foreign
from tests.kit.memory import CITIES, TARGET, Loaded, a_commit, a_spec, a_table_spec, a_table_state, at
from tests.kit.project import a_project
from tests.kit.timeline import OF_A_PIPELINE, HandMade, a_table
from tests.kit.timeline import commit as commit_file

#: Of version 6: freshet refuses its timeline.
REAL = tuple(name for name in foreign.NAMES if name != "version_6")


class Target:
    """A target, written commit by commit as the pipeline's runs would; a fault is a commit that they would not make."""

    def __init__(self, source: TableState) -> None:
        self.source, self.commits = source, list[Loaded]()
        self.before: Checkpoint | None = None

    def step(self, upto: str | None, origin: str = "increment", rows: int = 10, **extra: str) -> Target:
        """Add a commit whose checkpoint is at an instant of the source; None resets it."""
        main = self.before.main if self.before else None
        position = position_at(self.source, upto, main if origin == "increment" else None) if upto else None  # type: ignore[arg-type]
        self.before = Checkpoint({MAIN: position} if position else {})
        number = 100 + 10 * len(self.commits)
        told = {PIPELINE_KEY: "earnings", ORIGIN_KEY: origin, RUN_ID_KEY: f"r{number}", **encode(self.before), **extra}
        self.commits.append(a_commit(number, rows=rows, extra=told))
        return self

    def table(self) -> TableState:
        return a_table_state(self.commits, ref=TARGET)


def account(source: TableState, target: TableState | None, since: str = "", **changes: Any) -> Account:
    spec = a_spec(**{"inputs": (), **changes})
    spec = replace(spec, source=replace(spec.source, table=source.ref))
    tables = {source.ref.path: source} | ({target.ref.path: target} if target else {})
    return accounts_of((spec,), MemoryState(tables), since)[0]


def fates(edge: Edge) -> list[str]:
    return [one.fate for one in edge.fed]


def sources(*moments: int, **more: Any) -> TableState:
    return a_table_state([a_commit(moment, rows=moment) for moment in moments], **more)


def test_every_commit_has_one_fate_and_the_sums_close() -> None:
    source = sources(10, 20, 30, 40, 50)
    target = Target(source).step(at(20), "whole_table").step(at(30), rows=25).step(at(40), rows=40).table()
    found = account(source, target)
    (edge,) = found.edges
    assert fates(edge) == ["whole", "whole", "taken", "taken", "waiting"]
    assert [one.by for one in edge.fed] == [(at(100),), (at(100),), (at(110),), (at(120),), ()]
    assert edge.total == (5, 150)
    assert sum(rows for _, rows in edge.sums.values()) == 150
    assert [(take.commit, take.rows_in, take.published, take.left_out) for take in found.takes] == [
        (at(100), None, 10, None),
        (at(110), 30, 25, 5),
        (at(120), 40, 40, 0),
    ]
    assert (found.is_closed, found.has_faults) == (True, False)


def test_what_checks_counted_tells_what_the_sql_left_out() -> None:
    source = sources(10, 20)
    counted = json.dumps({"rows": 15, "quarantined": 2, "checks": {}})
    found = account(source, Target(source).step(at(10)).step(at(20), rows=12, **{CHECKS_KEY: counted}).table())
    (take,) = found.takes
    assert (take.rows_in, take.by_logic, take.quarantined, take.by_write, take.published) == (20, 5, 2, 1, 12)
    assert take.rows_in == take.published + take.quarantined + (take.left_out or 0)
    broken = account(source, Target(source).step(at(10)).step(at(20), **{CHECKS_KEY: "[1"}).table())
    assert broken.takes[0].batch is None


def test_a_target_whose_timeline_begins_later_tells_where_it_begins() -> None:
    source = sources(10, 20, 30)
    found = account(source, Target(source).step(at(20)).step(at(30)).table())
    assert fates(found.edges[0]) == ["before", "before", "taken"]
    assert found.is_closed


def test_before_the_first_run_all_waits() -> None:
    found = account(sources(10, 20), None)
    assert fates(found.edges[0]) == ["waiting", "waiting"]
    assert (found.takes, found.is_closed) == ((), True)


def test_what_read_latest_begins_behind_is_skipped_as_the_pipeline_says() -> None:
    source = sources(10, 20, 30)
    found = account(source, Target(source).step(at(20), "start_at_latest", 0).step(at(30)).table())
    assert fates(found.edges[0]) == ["skipped", "skipped", "taken"]
    assert found.is_closed


def test_a_checkpoint_that_is_set_beyond_commits_drops_them() -> None:
    source = sources(10, 20, 30, 40)
    target = Target(source).step(at(10)).step(at(30), "override", 0).step(at(40)).table()
    found = account(source, target)
    assert fates(found.edges[0]) == ["before", "dropped", "dropped", "taken"]
    assert "set by hand" in found.edges[0].faults[0].why
    assert (found.is_closed, found.has_faults) == (False, True)


def test_a_run_of_the_whole_source_has_what_was_dropped() -> None:
    source = sources(10, 20, 30)
    target = Target(source).step(at(10)).step(at(20), "override", 0).step(None, "override", 0).step(at(30), "whole_table")
    assert fates(account(source, target.table()).edges[0]) == ["whole"] * 3


def test_a_checkpoint_that_is_set_back_applies_commits_again() -> None:
    source = sources(10, 20, 30)
    target = Target(source).step(at(10)).step(at(30)).step(at(10), "override", 0).step(at(30)).table()
    found = account(source, target)
    assert [one.by for one in found.edges[0].faults] == [(at(110), at(130)), (at(110), at(130))]
    assert "set back" in found.edges[0].faults[0].why


def test_one_that_read_what_an_earlier_one_had_read_is_named() -> None:
    """Two writers at once, as without a lease: both begin from one checkpoint."""
    source = sources(10, 20, 30)
    found = account(source, Target(source).step(at(10)).step(at(20)).step(at(20)).table())
    assert [(take.commit, bool(take.why)) for take in found.takes] == [(at(110), False), (at(120), True)]
    assert found.has_faults


@pytest.mark.parametrize("origin", ["replay", "repair", "index"])
def test_a_commit_that_reads_nothing_and_moves_the_checkpoint_drops(origin: str) -> None:
    source = sources(10, 20)
    found = account(source, Target(source).step(at(10)).step(at(20), origin).table())
    assert fates(found.edges[0]) == ["before", "dropped"]
    assert origin in found.edges[0].faults[0].why


def test_one_that_leaves_the_checkpoint_where_it_is_changes_nothing() -> None:
    source = sources(10, 20)
    found = account(source, Target(source).step(at(10)).step(at(20)).step(at(20), "replay").table())
    assert fates(found.edges[0]) == ["before", "taken"]
    assert found.is_closed


def test_one_that_came_late_waits_and_is_taken_by_who_reads_it() -> None:
    """It completed by a time before the checkpoint, which does not know it."""
    early = sources(10, 30)
    late = sources(10, 20, 30)
    target = Target(early).step(at(10)).step(at(30))
    assert fates(account(late, target.table()).edges[0]) == ["before", "waiting", "taken"]
    target.source = late
    target.step(at(30))
    found = account(late, target.table())
    assert [one.by for one in found.edges[0].fed] == [(), (at(120),), (at(110),)]
    assert found.is_closed


def test_one_that_came_late_behind_a_first_run_waits() -> None:
    """A position knows that the archive was read up to it, and of the active timeline what it names alone."""
    target = Target(sources(10, 30)).step(at(30), "whole_table").table()
    assert fates(account(sources(10, 20, 30), target).edges[0]) == ["whole", "waiting", "whole"]
    archived = sources(30, archived=[a_commit(10), a_commit(20)])
    assert fates(account(archived, target).edges[0]) == ["whole"] * 3


def test_what_the_source_has_taken_back_is_named() -> None:
    target = Target(sources(10, 20, 30)).step(at(10)).step(at(30)).table()
    found = account(sources(10, 30), target)
    assert [(one.what, one.fate) for one in found.edges[0].faults] == [(at(20), "gone")]


def test_what_was_cleaned_or_archived_unread_is_dropped() -> None:
    source = sources(20, 30, archived=[a_commit(10)], retained_from=at(25))
    assert fates(account(source, None).edges[0]) == ["dropped", "dropped", "waiting"]


def test_archived_commits_of_before_count() -> None:
    source = sources(20, 30, archived=[a_commit(10)])
    found = account(source, Target(source).step(at(20), "whole_table").step(at(30)).table())
    assert fates(found.edges[0]) == ["whole", "whole", "taken"]


def test_table_services_bring_no_rows() -> None:
    commits = [a_commit(10), a_commit(20, action="replacecommit", operation="CLUSTER"), a_commit(30)]
    source = a_table_state(commits, archived=[a_commit(5, action="replacecommit", operation="CLUSTER")])
    assert len(account(source, None).edges[0].fed) == 2


def test_since() -> None:
    source = sources(10, 20, 30, 140)
    target = Target(source).step(at(10)).step(at(20)).step(at(30)).step(at(140)).table()
    found = account(source, target, since=at(115))
    assert [(one.what, one.fate) for one in found.edges[0].fed] == [(at(140), "taken")]
    assert [take.commit for take in found.takes] == [at(130)]
    steps = steps_of(a_spec(inputs=()), target, at(115))
    assert [step.instant.completed for step in steps] == [at(110), at(120), at(130)], "and the one that they begin from"


def test_an_unreadable_checkpoint_is_said() -> None:
    target = a_table_state([a_commit(100, extra={"streamer.freshet.checkpoint": "{"})], ref=TARGET)
    found = account(sources(10), target)
    assert found.error.startswith("CHECKPOINT_UNREADABLE")
    assert not found.is_closed


def test_an_input_that_drives_is_a_source_of_its_own() -> None:
    source = sources(10, 20)
    cities = a_table_state([a_commit(10), a_commit(20)], ref=CITIES)
    one = InputSpec(name="cities", table=CITIES, read="incremental", line=1, drives=(("city", "city"),))
    steps = [
        a_commit(100 + n, extra={ORIGIN_KEY: "increment", PIPELINE_KEY: "earnings", **encode(checkpoint)})
        for n, checkpoint in enumerate(
            Checkpoint({MAIN: position_at(source, main, None), "cities": position_at(cities, other, None)})
            for main, other in ((at(10), at(10)), (at(20), at(20)))
        )
    ]
    target = a_table_state(steps, ref=TARGET)
    spec = a_spec(inputs=(one,))
    (found,) = accounts_of((spec,), MemoryState({t.ref.path: t for t in (source, cities, target)}))
    assert [(edge.input, fates(edge)) for edge in found.edges] == [
        ("SRC", ["before", "taken"]),
        ("cities", ["before", "taken"]),
    ]
    assert found.takes[0].rows_in is None, "what cities brings of the source no commit counts"


def daily(**changes: Any) -> PipelineSpec:
    ref = TableRef("derived.daily", "/lake/derived/daily")
    spec = a_spec(name="daily", inputs=(), target=a_table_spec(ref=ref), **changes)
    return replace(spec, source=replace(spec.source, table=TARGET))


def test_what_one_pipeline_publishes_the_next_one_has() -> None:
    source = sources(10, 20, 30)
    target = Target(source).step(at(10)).step(at(20)).step(at(30)).table()
    below = a_table_state(
        [
            a_commit(200 + n, extra={ORIGIN_KEY: "increment", PIPELINE_KEY: "daily", **encode(Checkpoint({MAIN: position}))})
            for n, position in enumerate(position_at(target, upto, None) for upto in (at(100), at(110)))
        ],
        ref=TableRef("derived.daily", "/lake/derived/daily"),
    )
    state = MemoryState({t.ref.path: t for t in (source, target, below)})
    up, down = accounts_of((a_spec(inputs=()), daily()), state)
    assert (up.is_closed, down.is_closed, fates(down.edges[0])) == (True, True, ["before", "taken", "waiting"])

    class Loses(MemoryState):
        """Shows the table that is between without one commit to whoever reads it, and whole to its own pipeline."""

        asked = 0

        def table(self, ref: TableRef) -> TableState | None:
            if ref.path == TARGET.path:
                self.asked += 1
                return target if self.asked == 1 else replace(target, instants=target.instants[:-1])
            return super().table(ref)

    _, down = accounts_of((a_spec(inputs=()), daily()), Loses({t.ref.path: t for t in (source, below)}))
    assert ["has nothing of it" in words for words in down.unclosed] == [True]
    assert down.has_faults


def topics(*steps: tuple[str, int], ids: Sequence[str] = ("trips",)) -> Account:
    source = KafkaSpec(
        table=TableRef("kafka:trips", "kafka:trips"),
        max_commits=5,
        missing_checkpoint="ERROR",
        full_scan_when_expired=False,
        incremental_format="auto",
        topics=tuple(ids),
        client={"bootstrap.servers": "b:9092"},
    )
    commits = [
        a_commit(
            100 + 10 * n,
            rows=5,
            extra={
                ORIGIN_KEY: origin,
                PIPELINE_KEY: "earnings",
                **encode(Checkpoint({MAIN: KafkaPosition(of="kafka:trips", offsets={"trips": {0: offset}})})),
            },
        )
        for n, (origin, offset) in enumerate(steps)
    ]
    spec = a_spec(inputs=(), source=source)
    return accounts_of((spec,), MemoryState({TARGET.path: a_table_state(commits, ref=TARGET)}))[0]


def test_ranges_of_topics() -> None:
    found = topics(("increment", 10), ("increment", 25), ("increment", 40))
    assert [(one.what, one.rows, one.fate, one.by) for one in found.edges[0].fed] == [
        ("trips,0:10-25", 15, "taken", (at(110),)),
        ("trips,0:25-40", 15, "taken", (at(120),)),
    ]
    assert (found.is_closed, [take.rows_in for take in found.takes]) == (True, [15, 15])


def test_ranges_that_are_dropped_or_read_again() -> None:
    found = topics(("increment", 10), ("override", 20), ("increment", 30), ("override", 5), ("increment", 30))
    assert [(one.what, one.fate, len(one.by)) for one in found.edges[0].faults] == [
        ("trips,0:10-20", "dropped", 0),
        ("trips,0:5-10", "taken", 2),
        ("trips,0:20-30", "taken", 2),
    ]
    assert ("trips,0:10-20", "taken", 1) in [(one.what, one.fate, len(one.by)) for one in found.edges[0].fed]


def test_a_checkpoint_that_is_set_back_and_on_again_drops_nothing() -> None:
    found = topics(("increment", 10), ("increment", 20), ("override", 5), ("override", 20))
    assert [(one.what, one.fate) for one in found.edges[0].fed] == [("trips,0:10-20", "taken")]
    assert found.is_closed


@pytest.mark.parametrize("name", REAL)
def test_on_real_timelines(name: str, tmp_path: Path) -> None:
    """A pipeline that reads each commit by itself has a closed account; each fault that is put into it is found."""
    foreign.unpack(name, tmp_path / "raw")
    source = TimelineState().table(TableRef("raw.trips", str(tmp_path / "raw")))
    assert source is not None
    instants = [i.completed for i in source.data_commits]
    assert len(instants) > 2

    def steps() -> Target:
        return Target(source).step(instants[0], "whole_table")

    good = steps()
    for instant in instants[1:]:
        good.step(instant)
    found = account(source, good.table())
    assert found.is_closed
    assert fates(found.edges[0]) == ["whole"] + ["taken"] * (len(instants) - 1)

    dropped = steps().step(instants[-1], "override", 0)
    assert len(account(source, dropped.table()).edges[0].faults) == len(instants) - 1
    again = good.step(instants[0], "override", 0).step(instants[-1])
    assert len(account(source, again.table()).edges[0].faults) == len(instants) - 1
    lost = replace(source, instants=tuple(i for i in source.instants if i.completed != instants[1]))
    assert [one.what for one in account(lost, good.table()).edges[0].faults if one.fate == "gone"] == [instants[1]]
    twice = steps().step(instants[1]).step(instants[1])
    assert [bool(take.why) for take in account(source, twice.table()).takes] == [False, False, True]


def run(root: Path, *words: str) -> Any:
    return CliRunner().invoke(main, ["account", "-C", str(root), *words])


def a_lake(root: Path, *steps: tuple[int, int | None, str]) -> Path:
    project = a_project(root)
    a_table(project, "raw/events", 10, 20, 30)
    source = TimelineState().table(TableRef("raw.events", str(project / "data/raw/events")))
    assert source is not None
    table = HandMade(project / "data/derived/payments", OF_A_PIPELINE)
    for moment, upto, origin in steps:
        position = position_at(source, at(upto), None) if upto is not None else None
        vector = encode(Checkpoint({MAIN: position} if position else {}))
        told = {**vector, ORIGIN_KEY: origin, PIPELINE_KEY: "payments", RUN_ID_KEY: f"r{moment}"}
        table.done(moment, commit_file(told, numInserts=7))
    return project


def test_the_command(tmp_path: Path) -> None:
    root = a_lake(tmp_path / "a", (100, 10, "whole_table"), (110, 20, "increment"))
    found = run(root, "payments")
    assert found.exit_code == 0, found.output
    assert found.output.splitlines() == [
        "payments -> derived.payments: closed",
        "  raw.events: 3 commits, 30 rows: 1 taken (10), 1 read as a whole (10), 1 waiting (10)",
        "  rows of 1 increment: in 10 = published 7 + quarantined 0 + left out 3",
    ]
    listed = run(root, "payments", "--commits").output
    assert "2026-08-01 10:15:00.020Z  10 rows  taken by 2026-08-01 10:15:00Z" in listed
    told = json.loads(run(root, "--all", "--output", "json").output)["accounts"][0]
    assert (told["is_closed"], told["sources"][0]["sums"]["waiting"]) == (True, {"commits": 1, "rows": 10})
    assert run(root, "payments", "--since", "soon").exit_code == 2


def test_the_command_ends_with_7_where_something_is_dropped(tmp_path: Path) -> None:
    found = run(a_lake(tmp_path / "a", (100, 10, "whole_table"), (110, 30, "override")), "payments")
    assert found.exit_code == 7
    assert "payments -> derived.payments: 2 faults" in found.output
    assert "DROPPED: the checkpoint was set by hand" in found.output


def test_a_source_that_is_not_there_is_said(tmp_path: Path) -> None:
    found = run(a_project(tmp_path / "a"), "payments")
    assert found.exit_code == 0
    assert "there is no table at" in found.output


def test_times_of_a_table_in_another_zone_are_not_told_as_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.timezone", -3600)
    local = {"hoodie.table.timeline.timezone": "LOCAL"}
    source = sources(10, 20, properties=local)
    found = account(source, Target(source).step(at(10)).step(at(20), "override", 0).table())
    assert (found.edges[0].zone, found.zone) == ("LOCAL", "UTC")
    assert found.edges[0].faults[0].why.startswith("the checkpoint was set by hand at 2026-08-01 10:15:00Z")
