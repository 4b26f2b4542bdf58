"""The verdict on a pipeline, remembered: what parses SQL takes longer to import than a plan takes for all else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from freshet.project.model.pipeline import PipelineSpec
from freshet.project.rules.fingerprint import plain
from freshet.remembered import recall_by_code, remember_by_code
from freshet.verdict.facts import TableFacts
from freshet.verdict.result import Example, Finding, Granted, Output, Renamed, Scope, ScopeColumn, Verdict

_KIND = "verdicts"


def judged(spec: PipelineSpec, facts: Mapping[str, TableFacts]) -> Verdict:
    """Return the verdict on a pipeline: what the same code said of the same pipeline and tables before, else a new one.

    Args:
        spec: The pipeline.
        facts: What is known of its tables: see ``judge.judge``.
    """
    about = json.dumps([plain(spec), plain(facts)], sort_keys=True)
    kept = recall_by_code(_KIND, about)
    if kept is not None:
        return _verdict(kept)
    from freshet.verdict.judge import FAILED, judge

    verdict = judge(spec, facts)
    if verdict.scope.why_none != FAILED:
        remember_by_code(_KIND, about, asdict(verdict))
    return verdict


def _verdict(tree: Any) -> Verdict:
    output = tree["output"]
    return Verdict(
        kind=tree["kind"],
        findings=tuple(
            Finding(**{**one, "example": Example(**one["example"]) if one["example"] else None}) for one in tree["findings"]
        ),
        scope=Scope(columns=tuple(ScopeColumn(**one) for one in tree["scope"]["columns"]), why_none=tree["scope"]["why_none"]),
        granted=tuple(Granted(**{**one, "columns": tuple(one["columns"])}) for one in tree["granted"]),
        unused=tuple(tree["unused"]),
        not_asked=tuple(tree["not_asked"]),
        output=Output(names=tuple(output["names"]), renamed=tuple(Renamed(**one) for one in output["renamed"]))
        if output
        else None,
    )
