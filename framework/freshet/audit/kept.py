"""The last audit of a pipeline, as its record keeps it: for the history, and for who asks where a pipeline stands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from freshet.audit.result import AuditResult
from freshet.hudi.instants import UTC_ZONE, readable
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.record_files import AUDITS, last_record
from freshet.sources.hudi.reads import counted


def record_of(result: AuditResult) -> dict[str, Any]:
    """Return what a record tells of an audit."""
    repaired = [result.repaired.commit] if result.repaired else []
    return {
        "outcome": result.outcome,
        "commits": repaired,
        "seconds": {"total": result.seconds},
        "reason": in_short(result),
        "audit": {
            "checked": result.checked,
            "missing": result.missing,
            "surplus": result.surplus,
            "unequal": result.unequal,
            "lost": result.lost,
            "share": result.share,
            "upper_bound": result.upper_bound,
            "bound_of": result.bound_of,
            "checkpoint": result.checkpoint,
        },
    }


def in_short(result: AuditResult) -> str:
    """Return in a few words what an audit found."""
    of = "" if not result.by else f" ({percent(result.share)} drawn)"
    return f"{counted(result.checked, 'row')} checked{of}, {result.differing:,} differ"


def last_audit(spec: PipelineSpec) -> dict[str, Any] | None:
    """Return what the last audit of a pipeline found: ``when``, ``outcome``, ``checked``, ``differing`` and others.

    Args:
        spec: The pipeline.

    Returns:
        None where there was none, or its record cannot be read.
    """
    record = last_record(spec.target.ref, spec.name, AUDITS)
    if record is None or "audit" not in record:
        return None
    told = record["audit"]
    differing = told["missing"] + told["surplus"] + told["unequal"] + told["lost"]
    return {"when": record.get("ended") or record["begun"], "outcome": record["outcome"], "differing": differing, **told}


def standing_words(pipeline: str, told: Mapping[str, Any] | None) -> str:
    """Return what ``last_audit`` tells as one line; empty where there was no audit.

    Args:
        pipeline: The pipeline's name.
        told: What it tells.
    """
    if told is None:
        return ""
    ends = {"equal": "all equal a recompute", "repaired": f"{told['differing']:,} differed, and are repaired"}
    what = ends.get(told["outcome"], f"{told['differing']:,} differ; what: `freshet audit {pipeline}`")
    when = readable(told["when"], UTC_ZONE, datetime.now(timezone.utc))
    return f"{pipeline}: last audit {when}: {counted(told['checked'], 'row')} checked, {what}"


def percent(share: float, up: bool = False) -> str:
    """Return a share as people read it, of two digits that count.

    Args:
        share: The share.
        up: True for a bound, which no rounding may lower.
    """
    rounding = ROUND_CEILING if up else ROUND_HALF_EVEN
    digits = Context(prec=2, rounding=rounding).create_decimal(Decimal(repr(100 * share))).normalize()
    return f"{digits:f}%"
