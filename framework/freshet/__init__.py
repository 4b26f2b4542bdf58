"""freshet: incremental ETL on Apache Hudi. ``freshet.Project`` is what notebooks and schedulers call."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

# The command imports this package too, and must not pay for what it does not use: each name is imported at its first use.
if TYPE_CHECKING:
    from freshet.account.model import Account as Account
    from freshet.api.failures import ChunksFailed as ChunksFailed
    from freshet.api.project import Project as Project
    from freshet.audit.result import AuditResult as AuditResult
    from freshet.backfill.preview import BackfillPreview as BackfillPreview
    from freshet.backfill.run import BackfillResult as BackfillResult
    from freshet.errors import CheckError as CheckError
    from freshet.errors import DataError as DataError
    from freshet.errors import Exit as Exit
    from freshet.errors import FreshetError as FreshetError
    from freshet.errors import Problem as Problem
    from freshet.errors import RetryableError as RetryableError
    from freshet.errors import SpecError as SpecError
    from freshet.errors import StateError as StateError
    from freshet.errors import SyncError as SyncError
    from freshet.events.event import Event as Event
    from freshet.run.checks_history import ChecksHistory as ChecksHistory
    from freshet.run.plans import RunPlan as RunPlan
    from freshet.run.result import RunResult as RunResult
    from freshet.run.result import RunsFailed as RunsFailed
    from freshet.status.status import PipelineStatus as PipelineStatus
    from freshet.status.summary import Pipeline as Pipeline
else:
    _PLACES = {
        "freshet.account.model": ("Account",),
        "freshet.api.failures": ("ChunksFailed",),
        "freshet.api.project": ("Project",),
        "freshet.errors": (
            "CheckError",
            "DataError",
            "Exit",
            "FreshetError",
            "Problem",
            "RetryableError",
            "SpecError",
            "StateError",
            "SyncError",
        ),
        "freshet.events.event": ("Event",),
        "freshet.status.status": ("PipelineStatus",),
        "freshet.status.summary": ("Pipeline",),
        "freshet.audit.result": ("AuditResult",),
        "freshet.backfill.run": ("BackfillResult",),
        "freshet.backfill.preview": ("BackfillPreview",),
        "freshet.run.checks_history": ("ChecksHistory",),
        "freshet.run.plans": ("RunPlan",),
        "freshet.run.result": ("RunResult", "RunsFailed"),
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
    "Account",
    "AuditResult",
    "BackfillPreview",
    "BackfillResult",
    "CheckError",
    "ChecksHistory",
    "ChunksFailed",
    "DataError",
    "Event",
    "Exit",
    "FreshetError",
    "Pipeline",
    "PipelineStatus",
    "Problem",
    "Project",
    "RetryableError",
    "RunPlan",
    "RunResult",
    "RunsFailed",
    "SpecError",
    "StateError",
    "SyncError",
    "__version__",
]
