"""What the next run of a pipeline will do, or why it cannot: the plan that the run itself compiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from freshet.errors import FreshetError, unforeseen
from freshet.hudi.table import StateReader
from freshet.hudi.timeline import TimelineState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.estimate import Estimate
from freshet.plan.notices import one_machine_only
from freshet.plan.spark_keys import spark_notices
from freshet.plan.stages import Plan
from freshet.plan.unparsed import sql_notices
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.cost import estimate_words, hold_budget, shown_estimate
from freshet.secrets import redact, redact_tree
from freshet.sources.hudi.read.held import hold_plan
from freshet.status.logic_report import LogicReport, logic_lines, report_logic
from freshet.status.upstream import waits_for
from freshet.verdict.describe import verdict_json, verdict_lines
from freshet.verdict.result import Verdict


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """What the next run of a pipeline will do.

    Args:
        pipeline: Its name.
        plan: The plan; None where ``waits_for`` or ``error`` says why there is none. It holds the writer's options as they are,
            passwords included, which ``as_json`` and ``str`` leave out.
        logic: Which of the target's partitions hold rows of an older logic; None before the first run.
        verdict: Whether the increments equal a recompute.
        cost: What the run will cost; None where nobody can tell.
        waits_for: Pipelines whose first run it waits for.
        error: What forbids the run.
    """

    pipeline: str
    plan: Plan | None = field(default=None, repr=False)
    logic: LogicReport | None = field(default=None, repr=False)
    verdict: Verdict | None = field(default=None, repr=False)
    cost: Estimate | None = None
    waits_for: tuple[str, ...] = ()
    error: FreshetError | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the plan as a JSON-serialisable mapping, without secrets."""
        found: dict[str, Any] = {"pipeline": self.pipeline}
        if self.plan is not None:
            found = {**plan_json(self.plan), "logic": self.logic.as_json() if self.logic else None}
            found |= verdict_json(self.verdict) if self.verdict else {}
            found["estimate"] = self.cost.as_json() if self.cost else None
        elif self.waits_for:
            found["waits_for"] = list(self.waits_for)
        elif self.error is not None:
            found["error"] = self.error.as_json()
        redacted: dict[str, Any] = redact_tree(found)
        return redacted

    def __str__(self) -> str:
        now = datetime.now(timezone.utc)
        if self.plan is not None:
            verdict = verdict_lines(self.verdict) if self.verdict else ()
            cost = estimate_words(self.cost, self.plan)
            return redact(plan_text(self.plan, now=now, logic=logic_lines(self.logic, now), verdict=verdict, cost=cost))
        if self.waits_for:
            return f"{self.pipeline}\n  waits for the first run of {', '.join(self.waits_for)}"
        return redact(str(self.error))


def plan_run(
    project: Project,
    spec: PipelineSpec,
    more: Callable[[tuple[str, ...]], Project],
    full_refresh: bool = False,
    state: StateReader | None = None,
) -> RunPlan:
    """Plan the next run of a pipeline; what forbids it becomes the plan's ``error``.

    Args:
        project: The pipelines that were asked for.
        spec: One of them.
        more: Loads others of the project by their names.
        full_refresh: Compute the target anew from its whole source.
        state: Read-only view of the tables; None for the real ones as they stand now.
    """
    state = state or TimelineState()
    try:
        made = compile_plan(spec, state, RunRequest(full_refresh=full_refresh))
        made = replace(made, notices=(*made.notices, *one_machine_only(spec), *sql_notices(spec), *spark_notices(spec)))
        hold_plan(made, state)
        made = replace(made, notices=(*made.notices, *hold_budget(spec, made, state)))
    except Exception as unknown:  # one unreadable table must not hide the other plans
        error = unforeseen(unknown, spec.name)
        missing = error.code in ("SOURCE_MISSING", "INPUT_MISSING")
        before = waits_for(project, spec, state, more) if missing else ()
        return RunPlan(pipeline=spec.name, waits_for=before) if before else RunPlan(pipeline=spec.name, error=error)
    # It parses SQL, which whoever only loads a project must not pay for.
    from freshet.verdict.judged import judged
    from freshet.verdict.tables import facts_of

    verdict = judged(spec, facts_of(spec, {}, state=state))
    cost = shown_estimate(spec, made, state)
    return RunPlan(pipeline=spec.name, plan=made, logic=report_logic(spec, state), verdict=verdict, cost=cost)
