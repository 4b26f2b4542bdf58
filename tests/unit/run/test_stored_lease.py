"""A lease that holds across machines: conditional writes of one small object decide whose it is, and nothing else does."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import run as run_process
from threading import Event as Flag

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from freshet.errors import FreshetError, RetryableError, StateError
from freshet.lease import stored
from freshet.lease.choice import leases_for
from freshet.lease.keeping import Keeping
from freshet.lease.local import LocalLeases, stem_of
from freshet.lease.record import place_of, record_of
from freshet.lease.stored import StoredLeases
from freshet.project.model.pipeline import TableRef
from freshet.storage.conditional import ConditionalStore, DirectoryStore, Stored

FAR = TableRef("derived.earnings", "s3a://bucket/derived/earnings")
TTL = 60.0


@dataclass
class Shop:
    """A store in memory with a clock of its own, which may fail, forget an answer, or take no notice of conditions."""

    files: dict[str, Stored] = field(default_factory=dict)
    clock: float = 1000.0
    down: bool = False
    forgets: int = 0
    heeds: bool = True
    turn: threading.Lock = field(default_factory=threading.Lock)
    written: int = 0

    def read(self, path: str) -> Stored | None:
        self._answer()
        return self.files.get(path)

    def create(self, path: str, data: bytes) -> str | None:
        return self._write(path, data, lambda found: found is None)

    def swap(self, path: str, data: bytes, tag: str) -> str | None:
        return self._write(path, data, lambda found: found is not None and found.tag == tag)

    def now(self, path: str) -> float:
        self._answer()
        return self.clock

    def _write(self, path: str, data: bytes, as_it_should: Callable[[Stored | None], bool]) -> str | None:
        self._answer()
        with self.turn:
            if self.heeds and not as_it_should(self.files.get(path)):
                return None
            self.written += 1
            self.files[path] = Stored(data, str(self.written), self.clock)
            if self.forgets:
                self.forgets -= 1
                raise TimeoutError("no answer")
            return str(self.written)

    def _answer(self) -> None:
        if self.down:
            raise ConnectionError("could not connect")


def taken(shop: ConditionalStore, name: str, clock: Callable[[], float], killed: str = "", ttl: float = TTL) -> Keeping:
    return StoredLeases(shop, ttl, clock).take(FAR, {"run_id": name, "what": "run"}, clock(), killed=killed)


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_a_second_machine_waits_until_it_is_given_back(shop: Shop) -> None:
    first = taken(shop, "a", lambda: 0.0)
    with pytest.raises(RetryableError, match="run a"):
        taken(shop, "b", lambda: 0.0)
    first.give_back()
    assert taken(shop, "b", lambda: 0.0).record.epoch == 2
    told = json.loads(shop.files[place_of(FAR)].data)
    assert (told["epoch"], told["holder"]["run_id"], told["ttl_seconds"]) == (2, "b", TTL)


def test_one_that_has_ended_is_taken_over_and_its_owner_cannot_commit(shop: Shop) -> None:
    """Kind: an owner that did not see its lease end: paused, cut off from the store, on a machine that slept."""
    first = taken(shop, "a", lambda: 0.0)
    shop.clock += TTL
    with pytest.raises(RetryableError, match="ALREADY_RUNNING"):
        taken(shop, "b", lambda: 0.0)
    shop.clock += 3
    second = taken(shop, "b", lambda: 0.0)
    assert second.record.epoch == first.record.epoch + 1
    for _ in range(2):
        with pytest.raises(RetryableError, match="LEASE_LOST"):
            first.renew()
    assert first.lost() is not None
    first.give_back()
    second.renew()


def test_one_that_has_ended_and_was_not_taken_is_still_its_owners(shop: Shop) -> None:
    first = taken(shop, "a", lambda: 0.0)
    shop.clock += 10 * TTL
    first.renew()
    with pytest.raises(RetryableError, match="ALREADY_RUNNING"):
        taken(shop, "b", lambda: 0.0)


@pytest.mark.parametrize("hours", [-24, 24], ids=["behind", "ahead"])
def test_a_machines_clock_decides_about_nothing(shop: Shop, hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: a clock that is wrong: of who holds the lease, and of who wants it."""
    real = time.time
    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: real() + hours * 3600)
        first = taken(shop, "a", lambda: 0.0)
    with pytest.raises(RetryableError, match="ALREADY_RUNNING"):
        taken(shop, "b", lambda: 0.0)
    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: real() - hours * 3600)
        with pytest.raises(RetryableError, match="ALREADY_RUNNING"):
            taken(shop, "b", lambda: 0.0)
        shop.clock += TTL + 3
        assert taken(shop, "b", lambda: 0.0).record.epoch == first.record.epoch + 1


def test_the_machine_of_a_run_that_was_killed_goes_on_at_once(shop: Shop) -> None:
    taken(shop, "a", lambda: 0.0)
    assert taken(shop, "b", lambda: 0.0, killed="a").record.epoch == 2


def test_an_answer_that_is_lost_on_the_way_loses_no_lease(shop: Shop) -> None:
    first = taken(shop, "a", lambda: 0.0)
    shop.forgets = 1
    with pytest.raises(FreshetError):
        first.renew()
    first.renew()
    assert first.lost() is None
    shop.down = True
    with pytest.raises(FreshetError) as said:
        first.renew()
    assert said.value.code != "LEASE_LOST"
    assert first.lost() is None


def test_a_store_that_takes_no_notice_of_conditions_is_refused_each_time(shop: Shop) -> None:
    """Kind: a server that knows the header of the one condition, of the other, or of neither."""
    shop.heeds = False
    for _ in range(2):
        with pytest.raises(StateError, match="LEASE_UNSAFE"):
            taken(shop, "a", lambda: 0.0)


DAMAGED = ["", "{}", "[]", '{"version": 2}', '{"version": 1, "epoch": "x", "holder": {}}', "[" * 100_000]


@pytest.mark.parametrize("text", DAMAGED)
def test_one_that_is_damaged_is_not_taken(shop: Shop, text: str) -> None:
    shop.files[place_of(FAR)] = Stored(text.encode(), "1", 0.0)
    with pytest.raises(StateError, match="LEASE_UNREADABLE"):
        taken(shop, "a", lambda: 0.0)


def test_a_lease_that_is_lost_ends_the_work(shop: Shop) -> None:
    """Kind: taken by another machine, or not renewed in time, as nobody knows then who has it."""
    for lose in (lambda: shop.files.clear(), lambda: setattr(shop, "down", True)):
        shop.down = False
        shop.files.clear()
        held = taken(shop, "a", time.monotonic, ttl=1.2)
        ended = Flag()
        with held.renewing(), held.ending(ended.set):
            deadline = time.monotonic() + 10
            while not held.record.renewals and time.monotonic() < deadline:
                time.sleep(0.02)
            assert held.record.renewals
            lose()
            assert ended.wait(10)
        lost = held.lost()
        assert lost is not None
        assert lost.code == "LEASE_LOST"
        assert lost.exit_code == 4


@pytest.fixture(params=["memory", "directory"])
def store(request: pytest.FixtureRequest) -> ConditionalStore:
    return Shop() if request.param == "memory" else DirectoryStore()


def test_of_those_that_write_a_file_at_once_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: both conditions of a folder, each asked and kept under one lock. Slowly here: all ask before one has written."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: time.sleep(0.1))
    path, store = str(tmp_path / "a" / "lease.json"), DirectoryStore()
    with ThreadPoolExecutor(4) as pool:
        made = list(filter(None, pool.map(lambda number: store.create(path, b"%d" % number), range(4))))
        assert len(made) == 1
        written = list(filter(None, pool.map(lambda number: store.swap(path, b"a%d" % number, made[0]), range(4))))
        assert len(written) == 1
    found = store.read(path)
    assert found is not None
    assert found.tag == written[0]
    assert sorted(os.listdir(tmp_path / "a")) == ["lease.json", "lease.json.lock"]


def test_threads_that_race_for_it_have_it_one_at_a_time(
    store: ConditionalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "_POLL_SECONDS", 0.02)
    table = TableRef("derived.earnings", str(tmp_path / "earnings"))
    inside, most, epochs = list[str](), list[int](), list[int]()

    def race(number: int) -> None:
        leases = StoredLeases(store)
        for turn in range(3):
            held = leases.take(table, {"run_id": f"{number}-{turn}"}, leases.clock() + 60)
            inside.append(f"{number}")
            most.append(len(inside))
            epochs.append(held.record.epoch)
            held.renew()
            inside.pop()
            held.give_back()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(race, range(4)))
    assert max(most) == 1
    assert epochs == sorted(set(epochs))
    assert len(epochs) == 12


def test_a_lease_that_somebody_has_proven_and_not_taken_is_proven_again(tmp_path: Path) -> None:
    """Kind: a tag that is the text's, as an S3's is, and a writer that dies, or is slower, between its first writes."""
    table, leases = TableRef("derived.earnings", str(tmp_path / "earnings")), StoredLeases(DirectoryStore())
    path = place_of(table)
    assert leases.store.create(path, leases._unproven.as_bytes()) is not None
    for _ in range(2):
        found = leases.store.read(path)
        assert found is not None
        assert leases._proven(table, path, found.tag, record_of(table, path, found)) is not None
    held = leases.take(table, {"run_id": "late"}, leases.clock() + 60)
    held.give_back()


_RACER = """
import sys, time
from freshet.lease import stored
from freshet.project.model.pipeline import TableRef
from freshet.storage.conditional import DirectoryStore
stored._POLL_SECONDS = 0.02
leases, table = stored.StoredLeases(DirectoryStore()), TableRef("t", sys.argv[1])
for turn in range(5):
    held = leases.take(table, {"run_id": f"{sys.argv[2]}-{turn}"}, leases.clock() + 60)
    with open(sys.argv[1] + ".log", "a") as log:
        log.write(f"{held.record.epoch} in\\n"); log.flush(); time.sleep(0.01)
        log.write(f"{held.record.epoch} out\\n"); log.flush()
    held.give_back()
"""


def test_processes_that_race_for_it_have_it_one_at_a_time(tmp_path: Path) -> None:
    def race(name: str) -> int:
        return run_process([sys.executable, "-c", _RACER, str(tmp_path / "t"), name], check=False, env=os.environ).returncode

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(race, ("a", "b"))) == [0, 0]
    lines = (tmp_path / "t.log").read_text().split("\n")[:-1]
    assert lines == [f"{number // 2 + 1} {('in', 'out')[number % 2]}" for number in range(20)]


def test_it_is_held_on_this_machine_and_beside_the_table(tmp_path: Path) -> None:
    table = TableRef("derived.earnings", str(tmp_path / "earnings"))
    leases = StoredLeases(DirectoryStore())
    assert leases.holder(table) is None
    with leases.hold(table, "run-1", 0, pytest.fail, pipeline="earnings") as held:
        assert (held.epoch, held.lost()) == (1, None)
        held.renew()
        assert leases.is_held(table)
        assert LocalLeases().is_held(table)
        with pytest.raises(RetryableError, match="ALREADY_RUNNING"), leases.hold(table, "run-2", 0, [].append):
            pass
        # As another machine sees it, whose own lock is free.
        with pytest.raises(RetryableError, match="run run-1"):
            leases.take(table, {"run_id": "run-3"}, leases.clock())
    assert not leases.is_held(table)
    with leases.hold(table, "run-4", 0, pytest.fail) as held:
        assert held.epoch == 2


def test_after_a_kill_the_same_machine_goes_on_and_another_waits(tmp_path: Path) -> None:
    table = TableRef("derived.earnings", str(tmp_path / "earnings"))
    leases = StoredLeases(DirectoryStore())
    with ExitStack() as stack:
        stack.enter_context(leases.hold(table, "run-1", 0, pytest.fail))
        kept = Path(place_of(table)).read_bytes()
        lock = stem_of(table).with_name(stem_of(table).name + ".lease")
        record = lock.read_bytes()
    Path(place_of(table)).write_bytes(kept)
    with pytest.raises(RetryableError, match="ALREADY_RUNNING"), leases.hold(table, "run-2", 0, [].append):
        pass
    lock.write_bytes(record)
    with leases.hold(table, "run-3", 0, pytest.fail) as held:
        assert held.epoch == 2


def test_where_a_lease_is_kept(tmp_path: Path) -> None:
    here = TableRef("a", str(tmp_path / "a"))
    for target, across, kind in [
        (here, None, LocalLeases),
        (here, True, StoredLeases),
        (here, False, LocalLeases),
        (TableRef("a", "hdfs://name/a"), None, LocalLeases),
        (TableRef("a", "hdfs://name/a"), True, LocalLeases),
        (TableRef("a", "s3a://bucket/a"), False, LocalLeases),
    ]:
        assert isinstance(leases_for(target, across), kind), (target, across)
    assert place_of(FAR) == "s3a://bucket/derived/.freshet/earnings.lease.json"


class Machines(RuleBasedStateMachine):
    """Three machines and a store: no two commit in one epoch, and none in an older one than the last."""

    def __init__(self) -> None:
        super().__init__()
        self.shop = Shop()
        self.held: dict[int, Keeping] = {}
        self.runs = 0
        self.commits: list[tuple[int, str]] = []

    @rule(machine=st.integers(0, 2))
    def take(self, machine: int) -> None:
        if machine in self.held:
            return
        self.runs += 1
        with suppress(RetryableError):
            self.held[machine] = taken(self.shop, f"run-{self.runs}", lambda: self.shop.clock)

    @rule(machine=st.integers(0, 2), forgets=st.booleans())
    def renew(self, machine: int, forgets: bool) -> None:
        if machine in self.held:
            self.shop.forgets = int(forgets)
            try:
                self.held[machine].renew()
            except FreshetError as error:
                if error.code == "LEASE_LOST":
                    del self.held[machine]
            self.shop.forgets = 0

    @rule(machine=st.integers(0, 2))
    def commit(self, machine: int) -> None:
        if machine not in self.held:
            return
        try:
            self.held[machine].renew()
        except RetryableError:
            # The store answers here: it is lost.
            del self.held[machine]
            return
        record = self.held[machine].record
        if self.commits:
            assert record.epoch >= self.commits[-1][0]
            assert record.epoch > self.commits[-1][0] or record.run_id == self.commits[-1][1]
        self.commits.append((record.epoch, record.run_id))

    @rule(machine=st.integers(0, 2))
    def give_back(self, machine: int) -> None:
        if machine in self.held:
            self.held.pop(machine).give_back()

    @rule(machine=st.integers(0, 2))
    def die(self, machine: int) -> None:
        self.held.pop(machine, None)

    @precondition(lambda self: self.runs)
    @rule(seconds=st.sampled_from([1, 30, 59, 63, 600]))
    def wait(self, seconds: int) -> None:
        self.shop.clock += seconds


TestMachines = Machines.TestCase
TestMachines.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
