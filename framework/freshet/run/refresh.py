"""Run a full refresh: a run that replaces every row, and after it the index where that lies outside the table."""

from __future__ import annotations

from freshet.events.event import Listener
from freshet.hudi.table import StateReader
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec, Project
from freshet.run.result import RunResult
from freshet.run.runner import leased
from freshet.run.write_session import WriteSession


def refresh_pipeline(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    wait_seconds: float | None = None,
) -> RunResult:
    """Compute a target anew from its whole source, and replace what stands; failures become the result.

    Args:
        project: The project.
        spec: The pipeline.
        state: Reader of the tables.
        listen: Told what happens.
        wait_seconds: How long to wait for another run of the target; None takes the pipeline's own setting.
    """
    follows = False

    def planned() -> Plan:
        nonlocal follows
        plan = compile_plan(spec, state, RunRequest(full_refresh=True))
        follows = plan.index_follows
        return plan

    def then(session: WriteSession) -> None:
        if not follows:
            return
        # PySpark is there by now; what is idle needs none of it.
        from freshet.index.protocol import make_index_after_load
        from freshet.run.spark import session_for

        # Killed before it, the next run is refused, which knows another generation.
        spark = session_for(spec, project.root, lambda words: None)
        make_index_after_load(project=project, spec=spec, state=state, listen=session.listen, session=session, spark=spark)

    return leased(project, spec, state, listen, planned, "full refresh", False, wait_seconds, then)
