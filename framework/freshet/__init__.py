"""freshet: incremental ETL on Apache Hudi. ``freshet.Project`` is what notebooks and schedulers call."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

# The command imports this package too, and must not pay for what it does not use: each name is imported at its first use.
if TYPE_CHECKING:
    from freshet.api import ChunksFailed as ChunksFailed
    from freshet.api import Project as Project
    from freshet.errors import CheckError as CheckError
    from freshet.errors import DataError as DataError
    from freshet.errors import Exit as Exit
    from freshet.errors import FreshetError as FreshetError
    from freshet.errors import Problem as Problem
    from freshet.errors import RetryableError as RetryableError
    from freshet.errors import SpecError as SpecError
    from freshet.errors import StateError as StateError
    from freshet.errors import SyncError as SyncError
    from freshet.metrics.events import Event as Event
    from freshet.plan.status import PipelineStatus as PipelineStatus
    from freshet.plan.summary import Pipeline as Pipeline
    from freshet.runtime.backfill import BackfillResult as BackfillResult
    from freshet.runtime.backfill_preview import BackfillPreview as BackfillPreview
    from freshet.runtime.checks_history import ChecksHistory as ChecksHistory
    from freshet.runtime.plans import RunPlan as RunPlan
    from freshet.runtime.result import RunResult as RunResult
    from freshet.runtime.result import RunsFailed as RunsFailed
else:
    _PLACES = {
        "freshet.api": ("ChunksFailed", "Project"),
        "freshet.errors": ("CheckError", "DataError", "Exit", "FreshetError", "Problem", "RetryableError", "SpecError",
                           "StateError", "SyncError"),
        "freshet.metrics.events": ("Event",),
        "freshet.plan.status": ("PipelineStatus",),
        "freshet.plan.summary": ("Pipeline",),
        "freshet.runtime.backfill": ("BackfillResult",),
        "freshet.runtime.backfill_preview": ("BackfillPreview",),
        "freshet.runtime.checks_history": ("ChecksHistory",),
        "freshet.runtime.plans": ("RunPlan",),
        "freshet.runtime.result": ("RunResult", "RunsFailed"),
    }

    def __getattr__(name):
        place = next((place for place, names in _PLACES.items() if name in names), None)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(place), name)

    def __dir__():
        return sorted({*globals(), *__all__})


__all__ = [
    "BackfillPreview", "BackfillResult", "CheckError", "ChecksHistory", "ChunksFailed", "DataError", "Event", "Exit",
    "FreshetError", "Pipeline", "PipelineStatus", "Problem", "Project", "RetryableError", "RunPlan", "RunResult", "RunsFailed",
    "SpecError", "StateError", "SyncError", "__version__",
]
