"""The shape of when a pipeline runs: a schedule with its time zone, or one run after the other."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from freshet.project.model.cron import UTC, fault_of_schedule, is_zone
from freshet.project.shape.strategies import Duration, Model, refused, seconds_of


def _cron(value: str) -> str:
    fault = fault_of_schedule(value) if value else ""
    if fault:
        raise refused(fault, 'Write for instance "*/30 * * * *".')
    return value


def _time_zone(value: str) -> str:
    if not is_zone(value):
        raise refused(
            "this machine knows no such time zone.",
            "Write a name of the IANA's time zone database, such as Europe/Berlin; where a system lacks that database, install "
            "the package tzdata.",
        )
    return value


Cron = Annotated[str, AfterValidator(_cron)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
#: What stands where no zone is named.
DEFAULT_ZONE = UTC


class Continuous(Model):
    """Runs one after the other, under `freshet serve`, instead of a schedule."""

    min_interval: Duration = Field(
        "30s", description="So long at least from the begin of a run, or of a look that found nothing new, to the next."
    )

    @field_validator("min_interval")
    @classmethod
    def _is_some_time(cls, value: str) -> str:
        if seconds_of(value) == 0:
            raise refused("without an interval it would do nothing else but look.", "Write for instance 1s.")
        return value


def _not_empty(value: Any) -> Any:
    if value is None:
        # Whoever wrote it wants something to run.
        raise refused("it holds nothing.", "Write 'continuous: {min_interval: 30s}', or remove the key.")
    return value


def _not_both(value: Continuous, info: ValidationInfo) -> Continuous:
    if info.data.get("schedule"):
        raise refused("a pipeline has a schedule or is continuous, not both.", "Remove one of them.", "CONFLICTING_SETTING")
    return value


#: Of a pipeline that stands behind its schedule.
InsteadOfSchedule = Annotated[Continuous | None, BeforeValidator(_not_empty), AfterValidator(_not_both)]
