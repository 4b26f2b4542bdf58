"""What configs and pipelines say of how runs go: whom they wait for, and how long they may take."""

from __future__ import annotations

from pydantic import Field

from freshet.project.model.limits import RunLimits
from freshet.project.shape.strategies import Duration, Model, seconds_of


class Lease(Model):
    """How two runs of one pipeline at the same moment treat each other."""

    wait_seconds: float = Field(
        0.0,
        ge=0,
        le=86400,
        strict=False,
        description="Seconds that a run waits for another run of the same pipeline; 0 ends at once.",
    )
    across_machines: bool | None = Field(
        None,
        description="True where several machines write to tables on one shared disk; false keeps the lease on each machine "
        "alone. [default: across machines where the table's store is remote and freshet[object-store] is installed]",
    )


class Run(Model):
    """What becomes of a run that hangs."""

    timeout: Duration | None = Field(
        None,
        description="A run that takes longer is ended: RUN_TIMEOUT. Waiting for another run does not count. [default: none]",
    )
    stalled_after: Duration = Field(
        "30m",
        description="A run without a sign of life for so long is logged with its threads; where it does nothing at all, it is "
        "ended: RUN_STALLED. 0s turns it off.",
    )

    def limits(self) -> RunLimits:
        """Return the limits in seconds."""
        return RunLimits(seconds_of(self.timeout or ""), seconds_of(self.stalled_after) or 0)
