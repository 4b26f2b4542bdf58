"""A table service that is killed leaves a JVM behind that may go on writing: what comes next must wait for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from freshet.errors import RetryableError
from freshet.events.event import Event
from freshet.hudi.table import MemoryState
from freshet.jvm.lock import jvm_lock
from freshet.lease import local as lease
from freshet.lease.local import backfill_lease, hold_lease, service_lease
from freshet.lease.others import held_by_others
from freshet.project.model.pipeline import TableRef
from freshet.run import service
from tests.kit.memory import a_spec, a_table_spec, a_target

TWO_WRITERS = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL", "hoodie.compact.inline": "false"}


@pytest.mark.parametrize("options", [{}, TWO_WRITERS], ids=["instead of runs", "beside runs"])
def test_the_jvm_of_a_service_holds_the_lock_that_the_next_one_waits_for(
    options: dict[str, str],
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the kind: every holder of a lease whose JVM writes. Runs, backfills and the index commands hold the JVM's lock too;
    here both leases of a service, each after its Python is gone (which the test plays by giving the lease back)."""
    ref = TableRef("derived.earnings", str(tmp_path / "earnings"))
    spec = a_spec(target=a_table_spec(ref=ref, table_type="MERGE_ON_READ"), write_options=options)
    held = service_lease(ref) if options else ref
    monkeypatch.setattr(lease, "ORPHAN_SECONDS", 0.0)
    seen: list[str] = []

    def as_if_killed(*_: Any) -> str:
        real, lease.try_flock = lease.try_flock, lambda file: True
        try:
            with hold_lease(held, "next", 0.0, [].append):
                seen.append("not locked")
        except RetryableError as refused:
            seen.append(refused.message)
        finally:
            lease.try_flock = real
        return "done"

    monkeypatch.setattr(service, "_run", as_if_killed)
    events: list[Event] = []
    service.run_services(spec, MemoryState({ref.path: a_target()}), ("compact",), events.append)
    assert len(seen) == 1
    assert "the JVM of a run that was killed" in seen[0]
    with hold_lease(held, "next", 0.0, [].append):
        pass


def test_a_services_jvm_keeps_hudis_lock_from_being_taken_for_a_stale_one(spark: SparkSession, tmp_path: Path) -> None:
    """Of the kind: the JVMs of runs and backfills that were killed, which ``test_lease`` holds."""
    ref = TableRef("derived.earnings", str(tmp_path / "earnings"))
    for one in (ref, backfill_lease(ref), service_lease(ref)):
        with hold_lease(one, "run-1", 0.0, [].append) as held, jvm_lock(spark, held.writer_file):
            assert held_by_others(ref), one
        assert not held_by_others(ref)
