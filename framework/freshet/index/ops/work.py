"""What every work on a global index needs: the target's lease, a session, and a table that is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from freshet.errors import StateError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener, teller
from freshet.events.kinds import Phase
from freshet.hudi.table import StateReader, TableState
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.spark import session_for
from freshet.run.watchdog import watched
from freshet.run.write_session import WriteSession, write_session
from freshet.sinks.failures import in_words
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.reads import Version


@dataclass(frozen=True, kw_only=True)
class Work:
    """What every work on an index needs.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        session: The target, held for writing.
        spark: A session of the pipeline's own.
    """

    project: Project
    spec: PipelineSpec
    state: StateReader
    listen: Listener
    session: WriteSession
    spark: SparkSession

    def phase(self, words: str) -> None:
        """Tell what goes on."""
        self.listen(Phase(pipeline=self.spec.name, message=words))


@contextmanager
def index_work(project: Project, spec: PipelineSpec, state: StateReader, listen: Listener) -> Iterator[Work]:
    """Hold the target's lease, so that no run writes meanwhile, watch over the work as over a run, and start Spark.

    Raises:
        RetryableError: ALREADY_RUNNING.
        FreshetError: RUN_TIMEOUT or RUN_STALLED, and what a failed read or write is in words.
    """
    with (
        write_session(spec, listen, new_run_id(), what="work on its index") as session,
        watched(spec, session.listen) as listen,
    ):
        phase = teller(listen, Phase, spec.name)
        phase("starting Spark")
        spark = session_for(spec, project.root, phase)
        try:
            yield Work(project=project, spec=spec, state=state, listen=listen, session=session, spark=spark)
        except (Py4JJavaError, PySparkException) as error:
            raise in_words(spec.target.ref, str(error), reading=True) from error


def require_global(spec: PipelineSpec) -> None:
    """Refuse a pipeline whose index has no entries: NO_GLOBAL_INDEX."""
    if not spec.index.is_global:
        raise StateError(
            "NO_GLOBAL_INDEX",
            f"{spec.name}: a bucket index has no entries: a row's bucket follows from its key.",
            "Nothing was done.",
            f"Look at the table instead: freshet status {spec.name}",
        )


def require_rows(spec: PipelineSpec, state: StateReader) -> TableState:
    """Return the target's state: of a table without a file of its an index would lack keys, whose rows would be written twice.

    Args:
        spec: The pipeline.
        state: Reader of the tables.

    Raises:
        StateError: TARGET_MISSING where it has no commit, FILE_MISSING or FILE_CORRUPT.
    """
    target = state.table(spec.target.ref)
    if target is None or not target.commits:
        raise StateError(
            "TARGET_MISSING",
            f"{spec.name}: there is no row at {spec.target.ref.path} yet.",
            "Nothing was done.",
            f"Load it first: freshet index bootstrap {spec.name}",
        )
    hold_version(target, Version(""), "Nothing was done.", changed="TABLE_CHANGED", is_listed=False)
    return target
