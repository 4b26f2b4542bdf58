"""Progress on a terminal: one line per finished step, and a live line with the time of each pipeline's present one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from framework.metrics.events import Event, Listener
from framework.spec.secrets import redact

_POLL_SECONDS = 0.25
# Events with which a pipeline is through.
_LAST = ("committed", "idle", "failed", "skipped")


@contextmanager
def live_progress() -> Iterator[Listener]:
    """Yield a listener that draws on stderr until the block ends."""
    console = Console(stderr=True, highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        rows = {"": bar.add_task("starting", total=None)}
        chunks = bar.add_task("chunks", visible=False)
        ended, turn = threading.Event(), threading.Lock()

        def listen(event: Event) -> None:
            with turn:
                show(event)

        def show(event: Event) -> None:
            words = escape(redact(f"{event.pipeline}: {event.message}"))
            if event.name == "phase":
                row = rows.pop(event.pipeline, None)
                if row is None:
                    row = rows.pop("") if "" in rows else bar.add_task(words)
                rows[event.pipeline] = row
                bar.reset(row, description=words, total=None)
                return
            if event.name == "chunk":
                bar.update(chunks, description=words, visible=True,
                           completed=float(str(event.fields["number"])), total=float(str(event.fields["of"])))
                return
            if event.name in _LAST and event.pipeline in rows:
                row = rows.pop(event.pipeline)
                # One row stays, whatever comes next.
                if rows:
                    bar.remove_task(row)
                else:
                    rows[""] = row
            console.print(words, soft_wrap=True)

        def follow_spark() -> None:
            while not ended.wait(_POLL_SECONDS):
                counts = _spark_tasks()
                if counts:
                    with turn:
                        # Spark does not tell whose they are: they are shown at the step that began last.
                        bar.update(list(rows.values())[-1], completed=counts[0], total=counts[1])

        follower = threading.Thread(target=follow_spark, daemon=True)
        follower.start()
        try:
            yield listen
        finally:
            ended.set()
            follower.join()


def _spark_tasks() -> tuple[int, int] | None:
    # Nothing is imported for the sake of progress; a module that is still being imported has no SparkContext yet.
    spark_context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    context = spark_context._active_spark_context if spark_context else None
    if context is None:
        return None
    tracker = context.statusTracker()
    stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage))]
    return (sum(s.numCompletedTasks for s in stages), sum(s.numTasks for s in stages)) if stages else None
