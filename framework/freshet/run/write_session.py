"""What a writer of a table holds, taken by every writer in one order.

1. The table's lease, which also waits for the JVM of a writer that was killed.
2. The record of the run that was killed, by what it left in the lease.
3. Hudi's own lock, where that run left it behind; and what is left of a table that it was making.
4. Spark, by whoever needs it: a tick without news never starts it.
5. The JVM's lock, which outlives a Python that is killed.
6. The HBASE index, opened.
7. At the commit the lease once more, and the fence (``run/fence.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freshet.events.event import Listener, teller
from freshet.events.kinds import Notice, Waiting
from freshet.hudi.options import concurrency_of
from freshet.hudi.table import StateReader
from freshet.lease.choice import leases_for
from freshet.lease.never_began import clear_never_began
from freshet.lease.protocol import HeldLease
from freshet.lease.stale_lock import clear_stale_lock
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.run.records import remember_killed
from freshet.run.watchdog import end_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from freshet.index.protocol import OpenedIndex


@dataclass(frozen=True, kw_only=True)
class WriteSession:
    """A table that is held for writing.

    Args:
        spec: The pipeline.
        lease: Its lease.
        listen: Told what happens; writes each phase into the lease, too.
        waiting: Told in words what is waited for.
    """

    spec: PipelineSpec
    lease: HeldLease
    listen: Listener
    waiting: Callable[[str], None]

    @contextmanager
    def writing(self, spark: SparkSession) -> Iterator[None]:
        """Hold the JVM's lock while it writes; with the last writer of the process goes what the writers keep in memory.

        Raises:
            RetryableError: ALREADY_RUNNING, or LEASE_LOST where another machine took the lease meanwhile.
        """
        # PySpark costs a second to import, and what holds a lease may never need it.
        from freshet.jvm.at_work import at_work
        from freshet.jvm.lock import jvm_lock

        try:
            with (
                at_work(),
                jvm_lock(spark, self.lease.writer_file),
                self.lease.ending(lambda: end_for(self.spec.name)),
            ):
                yield
        except Exception as error:
            # Whatever the work was doing when its JVM was ended.
            lost = self.lease.lost()
            if lost is None or error is lost:
                raise
            raise lost from error

    @contextmanager
    def indexed(
        self,
        spark: SparkSession,
        spec: PipelineSpec,
        state: StateReader,
        phase: Callable[[str], None],
        follows: bool = False,
    ) -> Iterator[OpenedIndex | None]:
        """Hold the JVM's lock as ``writing`` does, and open the index that the writer asks; None where it needs no server.

        Args:
            spark: The session.
            spec: The pipeline.
            state: Reader of the tables.
            phase: Told what goes on.
            follows: True where the index is made after the commit.

        Raises:
            RetryableError: ALREADY_RUNNING.
            StateError: What a run through its index is refused for.
        """
        from freshet.index.protocol import open_index

        with self.writing(spark):
            # Before the work, not after it: a cluster that does not answer would let all of it be done for nothing.
            yield open_index(spark, spec, state, phase, follows)

    def confirm(self) -> None:
        """Make sure, just before a commit, that the lease is still this writer's.

        Raises:
            RetryableError: LEASE_LOST, or what the store of the lease answers.
        """
        self.lease.renew()

    def clear_lock(self, spec: PipelineSpec) -> bool:
        """Take Hudi's lock away where a writer that was killed left it; says whether it did."""
        return concurrency_of(spec) != "SINGLE_WRITER" and clear_stale_lock(spec.target.ref, self.lease, self.waiting)


@contextmanager
def write_session(
    spec: PipelineSpec,
    listen: Listener,
    run_id: str,
    *,
    wait_seconds: float | None = None,
    waiting: Callable[[str], None] | None = None,
    table: TableRef | None = None,
    lease: TableRef | None = None,
    what: str = "run",
    pipeline: str = "",
    chunk: bool = False,
    clears_lock: bool = True,
) -> Iterator[WriteSession]:
    """Hold a table for writing.

    Args:
        spec: The pipeline.
        listen: Told what happens.
        run_id: Shown to whoever finds the lease taken.
        wait_seconds: How long to wait for another writer; None takes the pipeline's own setting.
        waiting: Told once, in words, when there is something to wait for; None tells ``listen``.
        table: What is written; None for the pipeline's target.
        lease: What the lease is held on; None for the table itself.
        what, pipeline, chunk: See ``lease.local.hold_lease``.
        clears_lock: False where Hudi's lock is not this writer's to look after, or not yet.

    Raises:
        RetryableError: ALREADY_RUNNING.
        StateError: NOT_WRITABLE, STORAGE_FULL, LEASE_UNREADABLE or LEASE_UNSAFE.
    """
    table = table or spec.target.ref
    wait = spec.lease_wait_seconds if wait_seconds is None else wait_seconds
    waiting = waiting or teller(listen, Waiting, spec.name)
    leases, on = leases_for(table, spec.lease_across_machines), lease or table
    with leases.hold(on, run_id, wait, waiting, chunk=chunk, what=what, pipeline=pipeline) as held:
        remember_killed(table, held.left)
        session = WriteSession(spec=spec, lease=held, listen=held.noting(listen), waiting=waiting)
        if clears_lock and session.clear_lock(spec):
            words = "STALE_LOCK: a killed writer's lock was removed"
            session.listen(Notice(pipeline=spec.name, code="STALE_LOCK", message=words))
        if clear_never_began(table, on, leases):
            words = f"TABLE_NEVER_BEGAN: {table.name} was being made when its writer was killed; what was left is removed"
            session.listen(Notice(pipeline=spec.name, code="TABLE_NEVER_BEGAN", message=words))
        yield session
