"""Who shares an HBase cluster, by the settings of all pipelines of an environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from freshet.hudi.keys import options
from freshet.problems import Problems
from freshet.project.model.files import FilesSpec
from freshet.project.model.kafka import KAFKA, KafkaSpec
from freshet.project.model.pipeline import PipelineSpec, TableRef
from freshet.project.syntax.ddl import Setting

#: By cluster and pipeline: the target, and the declared share of the cluster, None where the rows decide.
Shares = Mapping[str, Mapping[str, tuple[TableRef, float | None]]]


def znode_of(settings: Mapping[str, Setting]) -> str:
    """Return HBase's node in ZooKeeper, its own default where none is set."""
    return _text(settings, options.HBASE_ZNODE) or "/hbase"


def cluster_of(settings: Mapping[str, Setting]) -> str:
    """Return the name of the HBase cluster that settings point to, as ``quorum:port:znode``; empty for another index."""
    if _text(settings, options.INDEX_TYPE).upper() != "HBASE":
        return ""
    return f"{_text(settings, options.HBASE_QUORUM)}:{_text(settings, options.HBASE_PORT)}:{znode_of(settings)}"


def shares_of(pipelines: Mapping[str, tuple[Mapping[str, Setting], TableRef | None]]) -> Shares:
    """Return who shares which HBase cluster.

    Args:
        pipelines: By name: the ``hoodie:`` settings, and the target where it is known.
    """
    found: dict[str, dict[str, tuple[TableRef, float | None]]] = {}
    for name, (settings, target) in pipelines.items():
        cluster = cluster_of(settings)
        if cluster and target is not None:
            share = _text(settings, options.HBASE_SHARE)
            found.setdefault(cluster, {})[name] = (target, number_of(share) if share else None)
    return found


def in_one_session(pipelines: Sequence[PipelineSpec]) -> tuple[PipelineSpec, ...]:
    """Return pipelines whose Spark session has what one of them needs, since the first one starts it.

    That is HBase's client settings, the jars of Spark's Kafka source, and that of its decoder of Avro.
    """
    needed = {
        options.HBASE_IN_SESSION: any(spec.index.hbase for spec in pipelines),
        options.KAFKA_IN_SESSION: any(spec.source.kind == KAFKA for spec in pipelines),
        options.AVRO_IN_SESSION: any(
            (isinstance(spec.source, KafkaSpec) and spec.source.uses_avro)
            or (isinstance(spec.source, FilesSpec) and spec.source.format == "avro")
            or (spec.source.bootstrap is not None and spec.source.bootstrap.format == "avro")
            for spec in pipelines
        ),
    }
    added = {key: "true" for key, is_needed in needed.items() if is_needed}
    return tuple(replace(spec, spark_conf={**spec.spark_conf, **added}) if added else spec for spec in pipelines)


def check_tables(pipelines: Iterable[PipelineSpec], problems: Problems) -> None:
    """Report two targets that name one index table: the keys of one would be found in the other.

    Args:
        pipelines: Those that were asked for.
        problems: Receives DUPLICATE_INDEX_TABLE.
    """
    taken: dict[tuple[str, str], PipelineSpec] = {}
    for spec in pipelines:
        if spec.index.hbase is None:
            continue
        first = taken.setdefault((spec.index.hbase.cluster, spec.index.hbase.table), spec)
        if first.target.ref.path != spec.target.ref.path:
            problems.add(
                spec.file,
                0,
                "DUPLICATE_INDEX_TABLE",
                f"{spec.index.hbase.table} on {spec.index.hbase.cluster} is the index "
                f"of {first.target.ref.name} already ({first.file}).",
                f"Write another {options.HBASE_TABLE}.",
            )


def _text(settings: Mapping[str, Setting], key: str) -> str:
    return settings[key].value.strip() if key in settings else ""


def number_of(text: str) -> float | None:
    """Return a number, None where the text is none."""
    try:
        return float(text)
    except ValueError:
        # Reported where the types of all values are checked.
        return None
