"""``freshet.Project.audit``: what the command ``freshet audit`` does, from Python."""

from __future__ import annotations

from dataclasses import replace

from freshet.api.arguments import Usage, at_least
from freshet.api.aside import cancel_jobs, run_aside
from freshet.api.failures import as_the_command
from freshet.api.loading import Loading
from freshet.api.shown import OnEvent, shown_audit, told_safely
from freshet.audit.request import DEFAULT_SHARE, AuditRequest, since_of
from freshet.audit.result import AuditResult
from freshet.audit.run import run_audit
from freshet.hudi.timeline import TimelineState


class Audits:
    """The audits of a project."""

    def audit(
        self: Loading,
        name: str,
        share: float = DEFAULT_SHARE,
        *,
        keys: int = 0,
        everything: bool = False,
        since: str = "",
        seed: str = "",
        repair: bool = False,
        on_event: OnEvent | None = None,
    ) -> AuditResult:
        """Hold a sample of a target's rows against a recompute of what its checkpoint says. See ``freshet audit``.

        Args:
            name: The pipeline.
            share: Share of the rows that is drawn.
            keys: About how many rows are drawn, instead of a share.
            everything: Compare all rows.
            since: Only rows that the target got since: ``3d`` ago, or a time.
            seed: Draw the same rows as the audit whose result names it.
            repair: Publish the right rows, and delete what should not be there, in one commit.
            on_event: Told what happens, from a thread of freshet's own.

        Returns:
            What was found; its ``outcome`` is ``equal``, ``differs`` or ``repaired``.

        Raises:
            FreshetError: Why nothing can be told, or what differs cannot be repaired.
        """
        with as_the_command():
            at_least(0, keys=keys)
            begin = since_of(since) if since else ""
            if not 0 < share <= 1 or (since and not begin):
                said = f"share={share!r} is no share between 0 and 1" if not 0 < share <= 1 else f"since={since!r} is no time"
                raise Usage("USAGE", f"{said}.", "Nothing was read or written.")
            request = AuditRequest(share=share, keys=keys, everything=everything, since=begin, seed=seed, repair=repair)
            project, listen = replace(self._load((name,)), goes_on=True), told_safely(on_event)
            found = run_aside(
                lambda: run_audit(project, project.pipelines[0], TimelineState(), request, listen), lambda: cancel_jobs((name,))
            )
            return shown_audit(found)
