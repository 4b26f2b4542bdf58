"""Before a run writes through an HBase index: is it the index of this very table, is it whole, and how fast may it be asked?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from freshet.errors import FreshetError, RetryableError, StateError
from freshet.hudi.checkpoint import GENERATION_KEY, INDEX_ROWS_KEY
from freshet.hudi.shares import rate_options, rows_of, shares
from freshet.hudi.table import StateReader, TableState
from freshet.index.hbase.cluster import HBase, IndexTable, connect, new_generation
from freshet.project.model.hidden import is_kept, kept_path, shown_of
from freshet.project.model.pipeline import HBaseSpec, PipelineSpec

_MERGED_BY = "hoodie.global.index.reconcile.parallelism"
_UNTOUCHED = "Nothing was read or written, and the checkpoint stays."
# Hudi's rollback puts the version before a commit's back.
_LEAST_VERSIONS = 2
# Regions of a table that its first run makes: entries of random keys spread, those of growing ones split as they come.
_SPLITS = tuple(bytes([first]) for first in range(0x10, 0x80, 0x10))


@dataclass(frozen=True, kw_only=True)
class Opened:
    """An index that may be written through.

    Args:
        generation: Which making of the index it is.
        rows: Rows of the table before the commit, about.
        share: The pipeline's share of the cluster.
        servers: Region servers alive.
        requests_per_second: What the share comes to.
        tasks: Tasks that run at a time.
        jvms: Executors, over which it is divided.
    """

    generation: str
    rows: int
    share: float
    servers: int
    requests_per_second: float
    tasks: int
    jvms: int

    def options(self, planned: Mapping[str, str]) -> dict[str, str]:
        """Return Hudi's options that keep a commit to what it may ask of the cluster.

        Args:
            planned: The commit's own options.
        """
        # Over which keys that move are merged: Hudi's default is 60, for a few rows.
        merged = {_MERGED_BY: planned.get(_MERGED_BY, str(self.tasks))}
        return {**merged, **self.rates()}

    def rates(self) -> dict[str, str]:
        """Return Hudi's options that keep a table service to what it may ask of the cluster."""
        return rate_options(self.requests_per_second, self.jvms)

    def metadata(self) -> dict[str, str]:
        """Return what a commit says of the index that it was written through."""
        return {GENERATION_KEY: self.generation, INDEX_ROWS_KEY: str(self.rows)}

    def in_words(self) -> str:
        """Return what the pipeline may ask of the cluster."""
        return (
            f"{self.share:.0%} of {self.servers} region server{'s' * (self.servers != 1)}: "
            f"{self.requests_per_second:,.0f} requests a second"
        )


def open_index(
    spark: SparkSession,
    spec: PipelineSpec,
    hbase: HBaseSpec,
    state: StateReader,
    phase: Callable[[str], None],
    follows: bool = False,
) -> Opened:
    """Check the index of a pipeline's target, and make its table before the first run.

    Args:
        spark: The session.
        spec: The pipeline.
        hbase: Where its index lies.
        state: Reader of the tables.
        phase: Told what goes on, in words.
        follows: True before a load that asks nothing of the index, which is made afterwards.

    Returns:
        What a commit must carry.

    Raises:
        RetryableError: HBASE_UNREACHABLE, INDEX_BUILDING or HBASE_OF_ANOTHER_PIPELINE.
        StateError: INDEX_MISSING, INDEX_OF_ANOTHER_TABLE, INDEX_REPLACED, INDEX_EMPTY or INDEX_TABLE_UNFIT.
    """
    target = state.table(spec.target.ref)
    local = (spark.sparkContext.master or "").startswith("local")
    with connect(spark, hbase) as cluster:
        if not cluster.classes.Cluster.hudiTalksTo(hbase.cluster, local):
            raise RetryableError(
                "HBASE_OF_ANOTHER_PIPELINE",
                f"{spec.name}: this Spark application has written through another HBase cluster, "
                "and Hudi's index keeps to the first one.",
                _UNTOUCHED,
                f"Run it by itself: freshet run {spec.name}",
            )
        if follows:
            checked_table(spec, cluster)
        generation = new_generation() if follows else _generation(spec, hbase, target, cluster)
        opened = allowed(spark, spec, hbase, state, cluster.servers(), generation)
    phase(f"index {hbase.table}: {opened.in_words()}")
    return opened


def allowed(
    spark: SparkSession,
    spec: PipelineSpec,
    hbase: HBaseSpec,
    state: StateReader,
    servers: int,
    generation: str,
) -> Opened:
    """Return what a pipeline may ask of its cluster now."""
    rows = {name: rows_of(state.table(ref)) for name, (ref, _) in hbase.shares.items()}
    share = shares({name: declared for name, (_, declared) in hbase.shares.items()}, rows)[spec.name]
    return Opened(
        generation=generation,
        rows=rows[spec.name],
        share=share,
        servers=servers,
        requests_per_second=share * servers * hbase.server_rate,
        tasks=parallel_tasks(spark),
        jvms=parallel_jvms(spark),
    )


def parallel_tasks(spark: SparkSession) -> int:
    """Return the number of tasks that may run at a time."""
    conf = spark.sparkContext.getConf()
    most = int(conf.get("spark.dynamicAllocation.maxExecutors", "0") or 0)
    if conf.get("spark.dynamicAllocation.enabled", "false") == "true" and most:
        return most * int(conf.get("spark.executor.cores", "1") or 1)
    return spark.sparkContext.defaultParallelism


def parallel_jvms(spark: SparkSession) -> int:
    """Return the number of processes that tasks may run in: as many executors as there are or are asked for."""
    if (spark.sparkContext.master or "").startswith("local"):
        return 1
    conf = spark.sparkContext.getConf()
    jsc: Any = spark.sparkContext._jsc
    # The driver is among those that are registered, and executors register one after the other.
    asked = ("spark.executor.instances", "spark.dynamicAllocation.maxExecutors")
    most = int(conf.get("spark.cores.max", "0") or 0) // int(conf.get("spark.executor.cores", "1") or 1)
    registered = int(jsc.sc().getExecutorMemoryStatus().size()) - 1
    return max(1, registered, most, *(int(conf.get(key, "0") or 0) for key in asked))


def recorded_generation(target: TableState | None) -> str:
    """Return the generation of the index that the target's commits name; empty where none does."""
    return (target.latest_extra(GENERATION_KEY) or "") if target is not None else ""


def _generation(spec: PipelineSpec, hbase: HBaseSpec, target: TableState | None, cluster: HBase) -> str:
    recorded, found = recorded_generation(target), checked_table(spec, cluster)
    has_rows = target is not None and bool(target.commits)
    if not recorded and (found is None or found.generation):
        if has_rows:
            raise _rebuild(
                "INDEX_MISSING",
                spec,
                f"no commit of {spec.target.ref.path} names an index, and "
                f"{hbase.table} on {hbase.cluster} is not known to hold its entries",
            )
        # A first run, or one after a first run that made the table and no commit.
        generation = new_generation()
        cluster.drop()
        cluster.create(_SPLITS, marks_of(spec, generation))
        cluster.set_state("ready")
        return generation
    if found is None:
        raise _rebuild("INDEX_MISSING", spec, f"there is no index table {hbase.table} on {hbase.cluster}")
    if found.state == "building":
        raise being_made(spec, hbase)
    if not recorded:
        return _adopted(spec, hbase, cluster, has_rows)
    if found.generation != recorded:
        raise _rebuild(
            "INDEX_REPLACED",
            spec,
            f"the table {hbase.table} on {hbase.cluster} is not the index that the last "
            f"commit of {spec.target.ref.path} was written with",
            recorded=recorded,
            found=found.generation,
        )
    return recorded


def _adopted(spec: PipelineSpec, hbase: HBaseSpec, cluster: HBase, has_rows: bool) -> str:
    """Take over a table that was made by hand, as Hudi's own documentation asks for."""
    empty = cluster.is_empty()
    if has_rows and empty:
        raise _rebuild("INDEX_EMPTY", spec, f"{hbase.table} on {hbase.cluster} is empty, and {spec.target.ref.path} is not")
    if not has_rows and not empty:
        raise StateError(
            "INDEX_OF_ANOTHER_TABLE",
            f"{spec.name}: {hbase.table} on {hbase.cluster} holds entries, and "
            f"{spec.target.ref.path} has no row: it is the index of another table.",
            _UNTOUCHED,
            "Name another table in hoodie.index.hbase.table; freshet makes it.",
        )
    generation = new_generation()
    cluster.mark(marks_of(spec, generation))
    return generation


def marks_of(spec: PipelineSpec, generation: str) -> dict[str, str]:
    """Return what an index table says of itself: the table that it belongs to, without a secret, and which making it is."""
    return {"dataset": kept_path(spec.target.ref.path, spec.hidden), "generation": generation}


def checked_table(spec: PipelineSpec, cluster: HBase) -> IndexTable | None:
    """Return the index table, None where there is none.

    Raises:
        StateError: INDEX_OF_ANOTHER_TABLE or INDEX_TABLE_UNFIT.
    """
    hbase, found = cluster.spec, cluster.describe()
    if found is None:
        return None
    where = f"{hbase.table} on {hbase.cluster}"
    path = spec.target.ref.path
    if found.dataset and not is_kept(found.dataset, path):
        another = shown_of(found.dataset, path, spec.hidden)
        raise StateError(
            "INDEX_OF_ANOTHER_TABLE",
            f"{spec.name}: {where} is the index of {another}, and the target is {path}.",
            _UNTOUCHED,
            "Name another table in hoodie.index.hbase.table; freshet makes it.",
        )
    if found.versions < _LEAST_VERSIONS:
        why = (
            "keeps one version of an entry, so that no commit could be rolled back"
            if found.versions
            else "has no column family '_s'"
        )
        raise StateError(
            "INDEX_TABLE_UNFIT",
            f"{spec.name}: {where} {why}.",
            _UNTOUCHED,
            f"Name another table, or in HBase's shell: alter '{hbase.table}', {{NAME => '_s', VERSIONS => 3}}",
        )
    if not found.enabled:
        raise StateError(
            "INDEX_TABLE_UNFIT", f"{spec.name}: {where} is disabled.", _UNTOUCHED, f"In HBase's shell: enable '{hbase.table}'"
        )
    return found


def being_made(spec: PipelineSpec, hbase: HBaseSpec) -> RetryableError:
    """Return the error that says that an index is not whole yet."""
    return RetryableError(
        "INDEX_BUILDING",
        f"{spec.name}: the index {hbase.table} on {hbase.cluster} is being made, or its making was killed.",
        _UNTOUCHED,
        f"Wait for it, or repeat it: freshet index rebuild {spec.name}",
        table=hbase.table,
    )


def _rebuild(code: str, spec: PipelineSpec, why: str, **details: object) -> FreshetError:
    return StateError(
        code,
        f"{spec.name}: {why}. Updates would not find their rows and leave duplicates.",
        _UNTOUCHED,
        f"Make the index from the table's rows: freshet index rebuild {spec.name}",
        **details,
    )
