"""The shape of whose event times a pipeline's runs count."""

from __future__ import annotations

from pydantic import Field, field_validator

from freshet.project.model import promises
from freshet.project.shape.strategies import Duration, Model, Name, refused, seconds_of

# What asks for windows asks for each of them until it is due.
_MOST_LATE_WINDOWS = 200


class EventTimes(Model):
    """Whose event times runs count: how late events are published, and how much of each window of them is there."""

    column: Name | None = Field(
        None,
        description="Column of the target that says when a row's event was: a timestamp. Of a changelog none is named: its "
        "events say it themselves. [default: none, so that nothing is counted of what this pipeline publishes]",
        examples=["created_at"],
    )
    window: Duration = Field("1h", description="Events are counted by windows of so long, which begin with a day in UTC.")
    lateness: Duration = Field("1h", description="So long after its end all events of a window have to be there.")

    @field_validator("window")
    @classmethod
    def _parts_a_day(cls, value: str) -> str:
        seconds = seconds_of(value)
        if seconds is not None and (seconds < 60 or 86_400 % seconds):
            raise refused("windows part a day into equal pieces of a minute or more.", "Write for instance 15m, 1h or 1d.")
        return value

    def spec(self) -> promises.EventTimes:
        """Return it in seconds."""
        return promises.EventTimes(
            column=self.column or "",
            window_seconds=seconds_of(self.window) or 0,
            lateness_seconds=seconds_of(self.lateness) or 0,
        )

    @property
    def is_too_late(self) -> bool:
        """Return True where more windows would wait for late events than are worth a look."""
        return (seconds_of(self.lateness) or 0) > _MOST_LATE_WINDOWS * (seconds_of(self.window) or 1)
