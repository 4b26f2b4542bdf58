"""Run a table's services beside its writers: compaction, clustering, cleaning, archiving, by Hudi's own write client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from freshet.errors import FreshetError, StateError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener, teller
from freshet.events.kinds import Done, Notice, Phase
from freshet.hudi.options import INDEX_CLASS, excludes_runs, writer_options
from freshet.hudi.table import StateReader, TableState
from freshet.index.protocol import OpenedIndex
from freshet.jvm.session import ALWAYS
from freshet.lease.local import service_lease
from freshet.plan.retention import held_back, left_unfinished
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.pending import (
    MADE_BY,
    carry_out,
    pending_clusterings,
    pending_compactions,
    schedule_clustering,
    schedule_compaction,
)
from freshet.run.records import remembered
from freshet.run.services_due import SERVICES, Service
from freshet.run.spark import plain_session
from freshet.run.watchdog import watched
from freshet.run.write_session import write_session
from freshet.sinks.failures import in_words

#: Of a service that found nothing to do.
NOTHING = "nothing to do"
_IN_WORDS: dict[Service, str] = {"compact": "compacting", "cluster": "clustering", "clean": "cleaning", "archive": "archiving"}


@dataclass(frozen=True)
class ServiceResult:
    """What the services of one table did.

    Args:
        pipeline: The pipeline that writes the table.
        done: What was done, by service: the request time of its instant, or ``nothing to do``.
        held: Why cleaning and archiving were left, one sentence per reader that they would have cut off.
    """

    pipeline: str
    done: dict[str, str]
    held: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the result as a JSON-serialisable mapping."""
        return {**vars(self), "held": list(self.held)}


def run_services(spec: PipelineSpec, state: StateReader, wanted: tuple[Service, ...], listen: Listener) -> ServiceResult:
    """Run services of a pipeline's target.

    Args:
        spec: The pipeline.
        state: Reader of the tables.
        wanted: Which services, run in the order of ``SERVICES``; compaction is left out for COPY_ON_WRITE.
        listen: Told what happens.

    Raises:
        StateError: TARGET_MISSING, or what a run through its HBASE index is refused for.
        FreshetError: A service failed; what the ones before it did stands.
    """
    target = state.table(spec.target.ref)
    if target is None:
        raise StateError(
            "TARGET_MISSING",
            f"{spec.name}: there is no table at {spec.target.ref.path} yet.",
            "Nothing was done.",
            f"Make it first: freshet run {spec.name}",
        )
    with remembered(spec.target.ref, spec.name, "service") as record:
        result = _under_lease(spec, state, wanted, listen)
        busy = any(done not in (NOTHING, "left") for done in result.done.values())
        record.update(outcome="done" if busy else "idle", done=result.done, reason="; ".join(result.held))
    return result


def _under_lease(spec: PipelineSpec, state: StateReader, wanted: tuple[Service, ...], listen: Listener) -> ServiceResult:
    result = ServiceResult(spec.name, {})
    lease = spec.target.ref if excludes_runs(spec, wanted) else service_lease(spec.target.ref)
    with (
        write_session(spec, listen, new_run_id(), lease=lease, what="table services", pipeline=spec.name) as session,
        watched(spec, session.listen) as listen,
    ):
        phase = teller(listen, Phase, spec.name)
        phase("starting Spark")
        spark = plain_session(spec)
        # A service whose Python is killed goes on in its JVM: what comes next waits for that one's lock, as after a run.
        with session.indexed(spark, spec, state, phase) as opened:
            spec = _at_its_rate(spec, opened)
            # COPY_ON_WRITE has nothing to compact.
            now = [one for one in SERVICES if one in wanted and (one != "compact" or spec.target.table_type != "COPY_ON_WRITE")]
            for number, service in enumerate(now, 1):
                kept = _kept(spec, state, service)
                if kept:
                    held = tuple(message for _, message in kept)
                    result = replace(result, held=held, done={**result.done, service: "left"})
                    code = kept[0][0]
                    listen(Notice(pipeline=spec.name, code=code, message=f"{code}: {held[0]}"))
                    continue
                listen(
                    Phase(
                        pipeline=spec.name,
                        message=f"{_IN_WORDS[service]} {spec.target.ref.name}",
                        unit="service",
                        number=number,
                        of=len(now),
                    )
                )
                session.confirm()
                done = _run(spark, spec, state, service, listen)
                result = replace(result, done={**result.done, service: done})
                listen(
                    Done(
                        pipeline=spec.name,
                        message=service,
                        commits=() if done == NOTHING else (f"{service} {done}",),
                    )
                )
    return result


def _at_its_rate(spec: PipelineSpec, opened: OpenedIndex | None) -> PipelineSpec:
    # A clustering writes the entry of each row anew, and whoever finds a failed commit takes its entries back.
    if opened is None:
        return spec
    return replace(spec, write_options={**spec.write_options, **opened.rates()})


def _kept(spec: PipelineSpec, state: StateReader, service: Service) -> tuple[tuple[str, str], ...]:
    # Why a service is left: code and message of each reason.
    if service not in ("clean", "archive"):
        return ()
    target = state.table(spec.target.ref)
    found = held_back(spec, state, target, 0) or (left_unfinished(spec, target) if service == "clean" else ())
    return tuple((notice.code, notice.message) for notice in found)


def _run(spark: SparkSession, spec: PipelineSpec, state: StateReader, service: Service, listen: Listener) -> str:
    before = _instants(state.table(spec.target.ref))
    try:
        with service_client(spark, spec) as (client, none):
            match service:
                case "compact":
                    for pending in pending_compactions(spark, spec.target.ref, MADE_BY):
                        carry_out(client, none, pending)
                        listen(
                            Notice(
                                pipeline=spec.name,
                                code="COMPACTION_RESUMED",
                                message=f"COMPACTION_RESUMED: the compaction of {pending} was left unfinished, and is done now",
                            )
                        )
                    planned = schedule_compaction(spark, spec, client)
                    if planned:
                        carry_out(client, none, planned)
                case "cluster":
                    for pending in pending_clusterings(spark, spec.target.ref, MADE_BY):
                        _finish_clustering(client, spec, pending, listen)
                    planned = schedule_clustering(spark, spec, client)
                    if planned:
                        _cluster(client, planned)
                case "clean":
                    client.clean()
                case "archive":
                    client.archive()
    except Py4JJavaError as error:
        raise _failed(spec, service, error) from error
    after = _instants(state.table(spec.target.ref))
    if service == "archive":
        gone = len(before - after)
        return f"{gone} instants archived" if gone else NOTHING
    made = sorted(after - before)
    return ", ".join(made) if made else NOTHING


def _finish_clustering(client: Any, spec: PipelineSpec, instant: str, listen: Listener) -> None:
    try:
        _cluster(client, instant)
        words = "was left unfinished, and is done now"
    except Py4JJavaError as error:
        words = f"was left unfinished, and is given up: {in_words(spec.target.ref, str(error)).message}"
    code = "CLUSTERING_RESUMED"
    listen(Notice(pipeline=spec.name, code=code, message=f"{code}: the clustering of {instant} {words}"))


def _cluster(client: Any, instant: str) -> None:
    try:
        client.cluster(instant, True)
    except Py4JJavaError:
        # What a writer changed since the plan was made can never be clustered by it; left behind, the plan would keep its
        # files from every later one, and the timeline from being archived.
        client.purgePendingClustering(instant)
        raise


@contextmanager
def service_client(spark: SparkSession, spec: PipelineSpec) -> Iterator[tuple[Any, Any]]:
    """Give Hudi's write client of a pipeline's target, and the option that is empty."""
    jvm: Any = spark._jvm
    for key, value in ALWAYS.items():
        # A session's settings reach the tasks of its queries only, and a service's jobs are none.
        spark.sparkContext.setLocalProperty(key, value)
    options = jvm.java.util.HashMap()
    # Every option of the table's writer: without those of its index, a service would drop the record index (Hudi 1.0.2).
    for key, value in {**writer_options(spec), "hoodie.compact.inline.max.delta.commits": "1"}.items():
        # A service moves no row from one partition to another.
        if key != INDEX_CLASS:
            options.put(key, value)
    scala_options = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(options)
    nothing = jvm.scala.Option.empty()
    client = jvm.org.apache.hudi.HoodieCLIUtils.createHoodieWriteClient(
        spark._jsparkSession,
        spec.target.ref.path,
        scala_options,
        nothing,
    )
    try:
        yield client, jvm.org.apache.hudi.common.util.Option.empty()
    finally:
        client.close()


def _instants(table: TableState | None) -> set[str]:
    return {instant.requested for instant in table.instants} if table else set()


def _failed(spec: PipelineSpec, service: Service, error: Py4JJavaError) -> FreshetError:
    found = in_words(spec.target.ref, str(error))
    if found.code != "WRITE_FAILED":
        return found
    return FreshetError(
        "SERVICE_FAILED",
        f"{spec.name}: {service}: {found.message}",
        "The table's rows are as they were.",
        "Run the same command again; FRESHET_JVM_LOG=warn in front of it shows what Hudi logs.",
    )
