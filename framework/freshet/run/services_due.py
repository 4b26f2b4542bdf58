"""Which services of a table are due that its runs leave to others. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Literal

from freshet.hudi.options import commits_since_compaction, compaction_is_left
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import PipelineSpec

Service = Literal["compact", "cluster", "clean", "archive"]
#: In the order in which they are done: a cleaner must not go before the compaction that reads what it deletes.
SERVICES: tuple[Service, ...] = ("compact", "cluster", "clean", "archive")
_INLINE: Mapping[Service, str] = {
    "compact": "hoodie.compact.inline",
    "cluster": "hoodie.clustering.inline",
    "clean": "hoodie.clean.automatic",
    "archive": "hoodie.archive.automatic",
}
_EVERY_COMMITS, _CLUSTERS_EVERY = "hoodie.compact.inline.max.delta.commits", "hoodie.clustering.inline.max.commits"
_CLEAN_KEEPS, _ARCHIVE_KEEPS = "hoodie.clean.commits.retained", "hoodie.keep.max.commits"
_CLEAN_KEPT = "hoodie.cleaner.commits.retained"
# Hudi 1.0.2's own.
_DEFAULTS = {_EVERY_COMMITS: 5, _CLUSTERS_EVERY: 4, _CLEAN_KEEPS: 10, _ARCHIVE_KEEPS: 30}
# A cleaner that finds nothing leaves no trace: so many commits at least lie between two times.
_LEAST_COMMITS = 5


def left_to_others(spec: PipelineSpec) -> tuple[Service, ...]:
    """Return the services that the runs of a pipeline do not do, because its options say so.

    A clustering is nobody's by default: it is left to others where its options also say after how many commits.

    Args:
        spec: The pipeline.
    """
    return tuple(service for service in SERVICES if _is_left(spec, service))


def _is_left(spec: PipelineSpec, service: Service) -> bool:
    if service == "compact" and spec.target.table_type != "MERGE_ON_READ":
        return False
    if service in ("clean", "archive") and compaction_is_left(spec):
        return True
    is_off = spec.write_options.get(_INLINE[service], "").lower() == "false"
    return is_off and (service != "cluster" or _CLUSTERS_EVERY in spec.write_options)


def services_due(spec: PipelineSpec, target: TableState, tried: Mapping[Service, str]) -> tuple[Service, ...]:
    """Return the services of a pipeline's target that are due and left to others, in their order.

    Args:
        spec: The pipeline.
        target: Its target.
        tried: Completion time of the newest commit when a service was last tried, by the service.
    """
    return tuple(service for service in left_to_others(spec) if _is_due(spec, target, service, tried.get(service, "")))


def _is_due(spec: PipelineSpec, target: TableState, service: Service, tried: str) -> bool:
    since = sum(instant.completed > tried for instant in target.data_commits)
    if tried and since < min(_LEAST_COMMITS, _number(spec, _EVERY_COMMITS)):
        return False
    match service:
        case "compact":
            return commits_since_compaction(target) >= _number(spec, _EVERY_COMMITS)
        case "cluster":
            return sum(1 for _ in _since_clustering(target)) >= _number(spec, _CLUSTERS_EVERY)
        case "clean":
            return len(target.data_commits) > _number(spec, _CLEAN_KEEPS, _CLEAN_KEPT)
        case "archive":
            return len(target.commits) > _number(spec, _ARCHIVE_KEEPS)


def _since_clustering(target: TableState) -> Iterator[object]:
    # Of a clustering the action is a replacement, as of an overwrite; its operation tells.
    return (
        instant
        for instant in takewhile(lambda one: target.info(one).operation != "CLUSTER", reversed(target.commits))
        if instant in target.data_commits
    )


def _number(spec: PipelineSpec, key: str, older: str = "") -> int:
    text = spec.write_options.get(key, spec.write_options.get(older, ""))
    return int(text) if text.isdigit() else _DEFAULTS[key]
