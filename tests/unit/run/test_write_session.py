"""What every writer of a table takes, in one order, and what it does with what the last one left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import RetryableError
from freshet.events.event import Event, Listener
from freshet.events.kinds import Phase, WindowPlanned
from freshet.hudi.options import CONCURRENCY
from freshet.hudi.table import MemoryState
from freshet.jvm import at_work, lock
from freshet.lease import never_began, stale_lock
from freshet.lease.held import Lease
from freshet.lease.local import backfill_lease, hold_lease, holder_of, service_lease, stem_of
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.notices import one_machine_only
from freshet.project.model.pipeline import PipelineSpec, Project, TableRef
from freshet.run import plans
from freshet.run import write_session as write_session_module
from freshet.run.records import read_records
from freshet.run.write_session import WriteSession, write_session
from freshet.storage import conditional
from tests.kit.memory import SOURCE, a_commit, a_spec, a_table_spec, a_table_state

OCC = {CONCURRENCY: "OPTIMISTIC_CONCURRENCY_CONTROL"}
WHOLE = "#Properties saved\nhoodie.table.version=8\nhoodie.table.name=earnings\nhoodie.table.checksum=1\n"


@pytest.fixture
def spec(tmp_path: Path) -> PipelineSpec:
    return a_spec(target=a_table_spec(ref=TableRef("derived.earnings", str(tmp_path / "earnings"))), write_options=OCC)


def killed(lease: TableRef, what: str = "run") -> None:
    """Leave in a lease what a holder that is killed leaves."""
    with hold_lease(lease, "run-1", 0, pytest.fail):
        pass
    record = {"run_id": "run-1", "what": what, "pipeline": "earnings", "pid": 1, "host": "here", "begun": time.time() - 5.0}
    stem_of(lease).with_name(stem_of(lease).name + ".lease").write_text(json.dumps(record))


def test_every_writer_records_the_run_that_was_killed(spec: PipelineSpec) -> None:
    """Kind: whoever takes the lease after a run that was killed, and writes itself over what that left: work on an index, a
    landing, a migration, a chunk of a backfill that runs alone. The services, a backfill and a run do it, too."""
    target = spec.target.ref
    for number, (lease, table) in enumerate(
        [(target, None), (backfill_lease(target), target), (service_lease(target), target)], 1
    ):
        killed(lease)
        with write_session(spec, [].append, "run-2", table=table, lease=lease, what="work on its index"):
            pass
        records, _ = read_records(target, "earnings", 10)
        assert sum(int(str(one.get("count", 1))) for one in records if one["outcome"] == "killed") == number


def test_every_writer_takes_away_hudis_lock_that_a_killed_one_left(spec: PipelineSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: a writer that takes Hudi's lock: a run, a backfill, and now the services and the work on an index, which waited for
    Hudi to take it by its age. A table with one writer has no such lock."""
    monkeypatch.setattr(stale_lock, "_HEARTBEAT_SECONDS", 0.0)
    target, events = spec.target.ref, list[Event]()
    lock = Path(target.path) / ".hoodie" / "lock"
    lock.parent.mkdir(parents=True)
    (lock.parent / "hoodie.properties").write_text(WHOLE)
    for lease, one, gone in [
        (target, spec, True),
        (service_lease(target), spec, True),
        (target, replace(spec, write_options={}), False),
    ]:
        killed(lease)
        lock.touch()
        with write_session(one, events.append, "run-2", table=target, lease=lease, what="table services"):
            assert lock.exists() is not gone
    assert [event.message.partition(":")[0] for event in events if event.name == "notice"] == ["STALE_LOCK"] * 2


def test_every_writer_removes_what_is_left_of_a_table_that_never_began(
    spec: PipelineSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kind: a writer of a table: of the target, of another one (a quarantine, a landed table), and one beside the runs, which
    leaves it while a run holds the table and may be making it."""
    monkeypatch.setattr(never_began, "_SETTLES_SECONDS", 0.0)
    target, events = spec.target.ref, list[Event]()
    other = TableRef("derived.quarantine", f"{target.path}_quarantine")
    for table, lease in ((target, target), (other, other), (target, backfill_lease(target))):
        folder = begun(table)
        with write_session(spec, events.append, "run-1", table=table, lease=lease):
            assert not folder.exists()
            assert folder.parent.exists()
    assert [event.message.partition(":")[0] for event in events if event.name == "notice"] == ["TABLE_NEVER_BEGAN"] * 3
    folder = begun(target)
    for lease, by in ((target, backfill_lease(target)), (backfill_lease(target), target), (target, service_lease(target))):
        with (
            hold_lease(by, "run-2", 0, pytest.fail),
            write_session(spec, pytest.fail, "run-3", table=target, lease=lease),
        ):
            assert folder.exists()


def begun(table: TableRef) -> Path:
    """Leave what a writer leaves that is killed while Hudi makes a table."""
    folder = Path(table.path) / ".hoodie"
    (folder / "timeline" / "history").mkdir(parents=True)
    (folder / "hoodie.properties").touch()
    (folder / ".hoodie.properties.crc").touch()
    return folder


def test_a_table_that_somebody_goes_on_making_is_left(spec: PipelineSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: a writer without a lease of freshet's, in the moment in which it makes the table."""
    folder = begun(spec.target.ref)
    monkeypatch.setattr(never_began.time, "sleep", lambda seconds: (folder / "hoodie.properties").write_text(WHOLE))
    with write_session(spec, pytest.fail, "run-1"):
        assert (folder / "hoodie.properties").read_text() == WHOLE


def test_it_waits_tells_and_notes(spec: PipelineSpec) -> None:
    events, words = list[Event](), list[str]()
    with write_session(spec, events.append, "run-1", what="landing") as session:
        session.listen(Phase(pipeline=spec.name, message="reading"))
        with pytest.raises(RetryableError, match="ALREADY_RUNNING"), write_session(spec, events.append, "b", wait_seconds=1.0):
            pass
        with (
            pytest.raises(RetryableError, match="landing run-1"),
            write_session(spec, events.append, "c", wait_seconds=1.0, waiting=words.append),
        ):
            pass
        lease = stem_of(spec.target.ref)
        assert json.loads(lease.with_name(f"{lease.name}.lease").read_text())["doing"] == "reading"
    assert [event.name for event in events] == ["phase", "waiting"]
    assert len(words) == 1


@dataclass
class Held:
    """A lease that is lost as soon as somebody says so."""

    writer_file: Path
    gone: RetryableError | None = None
    epoch: int = 3
    left: dict[str, str] = field(default_factory=dict)
    ends: list[Callable[[], None]] = field(default_factory=list)

    def noting(self, listen: Listener) -> Listener:
        return listen

    def renew(self) -> None:
        if self.gone is not None:
            raise self.gone

    def lost(self) -> RetryableError | None:
        return self.gone

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        self.ends.append(end)
        yield
        self.ends.pop()


LOST = RetryableError("LEASE_LOST", "another machine has it.", "The run was ended.")


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Held:
    monkeypatch.setattr(lock, "jvm_lock", lambda *_: nullcontext())
    monkeypatch.setattr(at_work, "at_work", nullcontext)
    return Held(tmp_path / "writer")


def test_a_lease_that_is_lost_ends_the_jvm_and_is_what_the_work_fails_with(
    spec: PipelineSpec, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kind: whatever the work of any writer raises when its JVM is ended; an error that came before stays as it is."""
    ended: list[str] = []
    monkeypatch.setattr(write_session_module, "end_for", ended.append)
    session = WriteSession(spec=spec, lease=held, listen=[].append, waiting=[].append)
    spark: Any = None
    with pytest.raises(ZeroDivisionError), session.writing(spark):
        raise ZeroDivisionError
    session.confirm()

    def lose(error: Exception) -> None:
        held.gone = LOST
        held.ends[-1]()
        raise error

    for error in (ConnectionError("the JVM is gone"), LOST):
        held.gone = None
        with pytest.raises(RetryableError, match="LEASE_LOST"), session.writing(spark):
            lose(error)
    assert ended == [spec.name] * 2
    with pytest.raises(RetryableError, match="LEASE_LOST"):
        session.confirm()


def test_of_a_table_on_a_shared_disk_the_lease_lies_beside_it(spec: PipelineSpec) -> None:
    shared = replace(spec, lease_across_machines=True)
    with write_session(shared, [].append, "run-1") as session:
        session.confirm()
        assert session.lease.epoch == 1
    with write_session(spec, [].append, "run-2") as session:
        session.confirm()
        assert session.lease.epoch == 0


@pytest.mark.parametrize(
    ("path", "across", "said"),
    [
        ("hdfs://name/t", None, "no conditional writes"),
        ("s3a://bucket/t", None, "not installed"),
        ("s3a://bucket/t", False, ""),
        ("/data/t", None, ""),
    ],
)
def test_a_plan_says_where_the_lease_holds_on_one_machine(
    spec: PipelineSpec, path: str, across: bool | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditional, "find_spec", lambda name: None)
    there = replace(spec, target=replace(spec.target, ref=TableRef("t", path)), lease_across_machines=across)
    found = one_machine_only(there)
    assert [notice.code for notice in found] == (["ONE_MACHINE_ONLY"] if said else [])
    assert all(said in notice.message for notice in found)
    monkeypatch.setattr(conditional, "find_spec", lambda name: object())
    assert bool(one_machine_only(there)) is path.startswith("hdfs")


def test_a_note_that_finds_the_disk_full_harms_no_run() -> None:
    """A lease's note is a listener like any other."""
    heard: list[Event] = []

    def full(told: Mapping[str, Any]) -> None:
        raise OSError(28, "No space left on device")

    Lease(Path("/w"), note=full).noting(heard.append)(Phase(pipeline="a", message="reading"))
    assert len(heard) == 1


def test_a_lease_says_what_its_run_reads() -> None:
    """Whoever asks for metrics finds it there, as long as the run is at work."""
    notes: list[dict[str, Any]] = []
    listen = Lease(Path("/w"), note=lambda told: notes.append(dict(told))).noting(lambda event: None)
    listen(WindowPlanned(pipeline="a", message="", kind="increment", commits=3, rows=30))
    listen(Phase(pipeline="a", message="reading"))
    listen(WindowPlanned(pipeline="a", message="", kind="whole_table"))
    assert notes == [
        {"reads_commits": 3, "reads_rows": 30},
        {"reads_commits": 3, "reads_rows": 30, "doing": "reading"},
        {"reads_commits": 0, "reads_rows": 0, "doing": "reading"},
    ]


def test_what_a_run_reads_stands_in_its_lease(tmp_path: Path) -> None:
    target = TableRef("derived.earnings", str(tmp_path / "earnings"))
    with hold_lease(target, "r1", 0.0, lambda words: None) as held:
        held.noting(lambda event: None)(WindowPlanned(pipeline="a", message="", kind="increment", commits=3, rows=30))
        found = holder_of(target)
        assert found is not None
        assert (found["reads_commits"], found["reads_rows"], found["run_id"]) == (3, 30, "r1")


def test_the_plan_that_people_see_has_it_and_a_run_does_not_repeat_it(
    spec: PipelineSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = replace(spec, inputs=(), target=replace(spec.target, ref=TableRef("t", "hdfs://name/t")))
    tables = MemoryState({SOURCE.path: a_table_state([a_commit(10)])})
    plan = compile_plan(there, tables, RunRequest())
    monkeypatch.setattr(plans, "compile_plan", lambda *_: plan)
    monkeypatch.setattr(plans, "hold_plan", lambda *_: None)
    monkeypatch.setattr(plans, "report_logic", lambda *_: None)
    shown = plans.plan_run(Project("/p", "local", (there,), {}), there, pytest.fail).plan
    assert shown is not None
    assert [notice.code for notice in shown.notices] == ["ONE_MACHINE_ONLY"]
    assert plan.notices == ()
