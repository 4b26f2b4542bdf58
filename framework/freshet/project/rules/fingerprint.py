"""Fingerprint of a pipeline: one digest over all that its result follows from.

It is derived from the specification: a new field is part of it, unless it is named below with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from freshet.changelog.layout import Layout
from freshet.project.model.checks import CheckSpec
from freshet.project.model.files import FilesSpec
from freshet.project.model.kafka import KafkaSpec, KeySpec
from freshet.project.model.pipeline import IndexSpec, InputSpec, PipelineSpec, SourceSpec, TableRef, TableSpec
from freshet.secrets import Redactor
from freshet.types.columns import Column

Fields = Mapping[type, frozenset[str]]

#: Fields that the result does not follow from.
APART: Fields = {
    PipelineSpec: frozenset(
        {
            # For people and schedulers.
            *("name", "file", "owner", "description", "tags", "schedule", "schedule_zone", "interval_seconds"),
            # Of other pipelines.
            *("co_writers", "readers"),
            # How long and by what means, and not what.
            *("spark_conf", "lease_wait_seconds", "lease_across_machines", "limits"),
            # For who looks after it.
            *("slo", "budget", "metrics", "lineage", "event_times"),
            # How a range is computed again: a chunk's commit says it by itself.
            "backfill",
            # Follows from the name.
            "quarantine",
            # What is said of the result, which makes none of its rows.
            *("accepts", "row_by_row"),
            # For Python steps; added where there is one.
            "variables",
            # The chain's text says more than its statements.
            "transform",
            # How a path that holds a secret is shown.
            "hidden",
            *("fingerprint", "logic"),
        }
    ),
    # The path is the table.
    TableRef: frozenset({"name"}),
    # Where it is written, and what stands among the write options.
    TableSpec: frozenset({"file", "properties", "column_lines"}),
    # How much at a time, and what a run without a checkpoint does.
    SourceSpec: frozenset({"max_commits", "missing_checkpoint", "full_scan_when_expired"}),
    # And where they are read, by whom, and how many at a time.
    KafkaSpec: frozenset(
        {
            *("table", "max_commits", "missing_checkpoint", "full_scan_when_expired", "incremental_format"),
            *("client", "max_events", "reset", "group", "fail_on_data_loss", "min_partitions"),
            # Which registry has the schemas, whose subjects they are, and whether the plan looks.
            *("registry", "subjects", "is_compared"),
        }
    ),
    # And how many at a time, when, and what becomes of those that come late.
    FilesSpec: frozenset(
        {
            *("max_commits", "missing_checkpoint", "full_scan_when_expired", "incremental_format", "tombstones"),
            *("max_files", "max_bytes", "quiet_seconds", "late_seconds", "too_late", "empty", "marker"),
        }
    ),
    KeySpec: frozenset({"registry", "subjects"}),
    InputSpec: frozenset({"line"}),
    # Where an index lies decides about no row.
    IndexSpec: frozenset({"hbase"}),
    CheckSpec: frozenset({"line"}),
    Column: frozenset({"comment"}),
}


#: Fields that came later: a pipeline that says nothing of them keeps its fingerprint.
LATER: Fields = {
    SourceSpec: frozenset({"changelog", "bootstrap"}),
    KafkaSpec: frozenset({"changelog", "bootstrap", "key"}),
    FilesSpec: frozenset({"changelog", "bootstrap"}),
    Layout: frozenset({"keeps"}),
}

_SCALARS = (str, int, float, type(None))


def fingerprint_of(spec: PipelineSpec, chain: Sequence[str], root: Path, secrets: Redactor) -> str:
    """Return the fingerprint of a pipeline, 16 hexadecimal digits of a SHA-256.

    Args:
        spec: The pipeline.
        chain: The text of each step: a SQL's after Jinja, a Python step's with those of its helpers.
        root: The project's root: the same project in another folder is the same pipeline.
        secrets: Of this pipeline alone: the process's redactor knows more or less of them by what else is loaded.
    """
    python = any(step.kind == "python" for step in spec.transform)
    told = {"spec": plain(spec, APART, LATER), "chain": list(chain), "variables": dict(spec.variables) if python else {}}
    text = json.dumps(secrets.whole_tree(told), sort_keys=True, ensure_ascii=False)
    text = text.replace(json.dumps(str(root), ensure_ascii=False)[1:-1], ".")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def plain(value: Any, apart: Fields = MappingProxyType({}), later: Fields = MappingProxyType({})) -> Any:
    """Return a specification as a JSON-able tree: with all that its text leaves out, and in an order of its own.

    Args:
        value: A dataclass, or what is in one.
        apart: Fields that are left out, by their class.
        later: Fields that are left out where they have their default, by their class.
    """
    if isinstance(value, _SCALARS):
        return value
    kind = type(value)
    if is_dataclass(kind):
        out, unsaid = apart.get(kind, ()), later.get(kind, ())
        told: dict[str, Any] = {"": kind.__name__}
        for name, default in _fields(kind):
            if name not in out:
                one = getattr(value, name)
                if name not in unsaid or one != default:
                    told[name] = one if isinstance(one, _SCALARS) else plain(one, apart, later)
        return told
    if isinstance(value, Mapping):
        return {str(key): plain(one, apart, later) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one, apart, later) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return repr(value)


@cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    return tuple((one.name, one.default) for one in fields(kind))
