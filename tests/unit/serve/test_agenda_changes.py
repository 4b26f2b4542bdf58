"""What becomes of the agenda when clocks are set and files change, by a made clock."""

from __future__ import annotations

from freshet.project.model.cron import Schedule
from freshet.project.model.pipeline import HBaseSpec, IndexSpec, Project, TableRef
from freshet.serve.served import followed_by, has_missed, pause_after, served_of
from tests.kit.memory import a_spec, a_table_spec
from tests.unit.serve.kit import FAILED, IDLE, Made, continuous, follows, on_call, scheduled

HOUR = 3600.0


def test_a_clock_that_is_put_forward_makes_a_schedule_due_once() -> None:
    made = Made(scheduled("a"))
    assert made.starts() == []
    made.wall += 5 * HOUR
    assert made.agenda.tick(made.now) == 5 * HOUR
    assert made.starts() == ["look a"]
    made.looked("a", IDLE)
    waited, begun = made.next_start()
    assert (round(waited), begun) == (600, ["look a"])


def test_a_clock_that_is_put_back_does_not_silence_a_schedule() -> None:
    made = Made(scheduled("a"))
    made.wall -= 5 * HOUR
    assert made.agenda.tick(made.now) == -5 * HOUR
    waited, begun = made.next_start()
    assert (round(waited), begun) == (600, ["look a"])


def test_a_clock_that_is_set_a_little_is_no_jump_and_intervals_never_go_by_it() -> None:
    made = Made(continuous("a", 30))
    assert made.starts() == ["look a"]
    made.looked("a", IDLE)
    made.wall += 2
    assert made.agenda.tick(made.now) == 0
    made.wall -= 10 * HOUR
    assert round(made.next_start()[0]) == 30


def test_rests_do_not_go_by_the_wall() -> None:
    made = Made(continuous("a", 1))
    made.through("a", FAILED)
    made.wall += 10 * HOUR
    assert round(made.next_start()[0]) == 300


def test_files_that_change_keep_what_goes_on_and_forget_old_failures() -> None:
    made = Made(continuous("a", 1), scheduled("b"), on_call("c"))
    made.through("a", FAILED)
    made.agenda.call("c", made.now)
    made.agenda.pause("b", True, made.now)
    assert made.starts() == ["look c"]
    made.agenda.load((continuous("a", 1), scheduled("b"), on_call("c"), on_call("d")), ["d"], ["a"], made.now)
    assert made.agenda.shown(made.now)["a"]["failures"] == 0
    assert made.phase("b") == "paused"
    assert made.phase("c") == "looking"
    assert made.starts() == ["look a"], "both looks that go on at a time are taken"
    made.looked("c", IDLE)
    assert made.starts() == ["look d"]


def test_a_pipeline_that_is_gone_ends_what_it_does() -> None:
    made = Made(on_call("a"), on_call("b"), due=["a", "b"])
    made.starts()
    made.looked("a")
    assert made.starts() == ["run a"]
    made.agenda.load((on_call("c"),), (), (), made.now)
    assert list(made.agenda.shown(made.now)) == ["c"]
    assert made.agenda.at_work == ("a", "b")
    made.looked("b")
    made.ran("a")
    assert made.agenda.at_work == ()
    assert made.starts() == []


def test_another_schedule_counts_from_now_on() -> None:
    made = Made(scheduled("a", "0 6 * * *"))
    made.agenda.load((scheduled("a", "*/5 * * * *"),), (), (), made.now)
    assert round(made.next_start()[0]) == 300
    made.looked("a", IDLE)
    made.agenda.load((continuous("a", 10),), (), (), made.now)
    assert made.starts() == ["look a"]
    made.looked("a", IDLE)
    made.agenda.load((on_call("a"),), (), (), made.now)
    assert made.next_start(most=2 * HOUR)[1] == []


def test_a_time_that_nobody_was_there_for_is_made_up_for_once() -> None:
    hourly = Schedule("0 * * * *")
    assert not has_missed(hourly, None, 100 * HOUR), "one that never ran waits for its first time"
    assert has_missed(hourly, 97.5 * HOUR, 100 * HOUR)
    assert not has_missed(hourly, 100 * HOUR, 100.5 * HOUR)
    assert not has_missed(hourly, 100 * HOUR - 20, 100.5 * HOUR), "the scheduler's clock was a little ahead"


def test_how_long_it_rests() -> None:
    assert [pause_after(n, True) for n in (1, 2, 3)] == [30, 60, 120]
    assert pause_after(10_000, True) == pause_after(10_000, False) == HOUR


def test_what_a_project_says_of_its_pipelines() -> None:
    hbase = HBaseSpec(quorum="q", port=1, znode="/h", table="t", server_rate=1, shares={}, client={})

    def spec(name: str, **changes: object) -> object:
        return a_spec(**{"name": name, "target": a_table_spec(ref=TableRef(name, f"/data/{name}")), "inputs": (), **changes})

    specs = (
        spec("a", schedule="0 6 * * *", schedule_zone="Europe/Berlin"),
        spec("b", schedule="", interval_seconds=30),
        spec("c", schedule="", index=IndexSpec("HBASE", {}, hbase)),
        spec("d", schedule="", index=IndexSpec("HBASE", {}, hbase)),
    )
    project = Project("/p", "local", specs, {"b": ("a",), "c": ("a", "not selected"), "d": ("not selected",)})  # type: ignore[arg-type]
    a, b, c, d = served_of(project)
    assert [one.kind for one in (a, b, c, d)] == ["scheduled", "continuous", "follows", "follows"]
    assert a.schedule == Schedule("0 6 * * *", "Europe/Berlin")
    assert (c.upstream, d.upstream) == (("a", "not selected"), ("not selected",))
    assert followed_by(project) == {"a", "not selected"}
    assert c.apart & d.apart
    assert not a.apart & b.apart


def test_a_follower_of_what_others_run_waits_for_no_turn_of_theirs() -> None:
    made = Made(follows("b", "a"))
    made.agenda.upstream_committed("a", made.now)
    assert made.starts() == ["look b"]
    made.looked("b", IDLE)
    made.agenda.load((on_call("b"),), (), (), made.now)
    made.agenda.upstream_committed("a", made.now)
    assert made.starts() == []
