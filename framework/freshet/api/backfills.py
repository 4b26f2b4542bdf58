"""``freshet.Project.backfill``: what the command ``freshet backfill`` does, from Python."""

from __future__ import annotations

from datetime import date

from freshet.api.arguments import asked_backfill, at_least
from freshet.api.aside import cancel_jobs, run_aside
from freshet.api.failures import ChunksFailed, as_the_command
from freshet.api.loading import Loading
from freshet.api.shown import OnEvent, shown_backfill, told_safely
from freshet.backfill.chunks import Reprocess
from freshet.backfill.preview import BackfillPreview, preview_backfill
from freshet.backfill.run import BackfillResult, run_backfill, window_of
from freshet.hudi.timeline import TimelineState
from freshet.lineage.listener import Lineage
from freshet.metrics.out import send_after


class Backfills:
    """The backfills of a project."""

    def plan_backfill(
        self: Loading,
        name: str,
        start: date | str,
        end: date | str,
        *,
        chunk: str = "",
        reprocess: Reprocess = "none",
        accept_changes: bool = False,
    ) -> BackfillPreview:
        """Say which chunks a backfill has, and what the first one will do. See ``freshet backfill --dry-run``.

        Args: As for ``backfill``.
        """
        with as_the_command():
            request = asked_backfill(start, end, chunk, reprocess, accept_changes)
            return preview_backfill(self._backfill_of(name), request, TimelineState())

    def backfill(
        self: Loading,
        name: str,
        start: date | str,
        end: date | str,
        *,
        chunk: str = "",
        reprocess: Reprocess = "none",
        max_conflicts: int = 20,
        accept_changes: bool = False,
        on_event: OnEvent | None = None,
    ) -> BackfillResult:
        """Compute a range of dates again, chunk by chunk, beside the live writer. See ``freshet backfill``.

        The same call goes on with a backfill that was stopped.

        Args:
            name: The pipeline.
            start: Begin of the range of event times, inclusive, UTC: a date, a moment, or one as ISO 8601 writes it.
            end: End of the range, exclusive.
            chunk: Length of a chunk: ``6h``, ``1d``, ``1w`` or ``1mo``; by default one partition of the target, or a day.
            reprocess: Which of the chunks that were tried already to do again: ``none``, ``failed`` or ``all``.
            max_conflicts: How often one chunk is repeated when another writer was faster.
            accept_changes: Go on although the pipeline's files changed since the backfill began.
            on_event: Told what happens, from a thread of freshet's own.

        Raises:
            FreshetError: Why it cannot begin, or ended early.
            ChunksFailed: It went through all chunks, and some failed.
        """
        with as_the_command():
            at_least(0, max_conflicts=max_conflicts)
            request = asked_backfill(start, end, chunk, reprocess, accept_changes)
            lineage = Lineage()
            load, listen = lineage.knowing(self._backfill_of(name)), told_safely(on_event, lineage)
            result = shown_backfill(
                run_aside(
                    lambda: run_backfill(load, request, TimelineState(), listen, max_conflicts), lambda: cancel_jobs((name,))
                )
            )
            send_after(lambda: load(window_of(request.start, request.end)), self._load, listen)
            if result.error is not None:
                raise result.error
            if result.failed:
                raise ChunksFailed(result)
            return result
