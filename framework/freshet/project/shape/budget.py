"""What a pipeline's runs may cost."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from freshet.project.model.promises import BudgetSpec
from freshet.project.shape.strategies import Duration, Model, Size, bytes_of, refused, seconds_of


class Budget(Model):
    """What a run may cost at most, by what `freshet plan` estimates; without an estimate nothing is held back."""

    runtime: Duration | None = Field(
        None, description="So long at most, without the start of Spark. [default: no limit]", examples=["15m"]
    )
    written: Size | None = Field(
        None, description="So much at most in the files that a run writes. [default: no limit]", examples=["20GB"]
    )
    file_groups: int | None = Field(
        None, ge=1, strict=False, description="To so many file groups of the target at most. [default: no limit]"
    )
    over: Literal["warn", "refuse"] = Field(
        "warn",
        description="What becomes of a run that is estimated to cost more: warn says so, refuse ends it before it reads.",
    )

    @field_validator("runtime")
    @classmethod
    def _is_some_time(cls, value: str | None) -> str | None:
        if value is not None and seconds_of(value) == 0:
            raise refused("a budget of no time at all lets no run begin.", "Write for instance 15m, or remove the key.")
        return value

    def spec(self) -> BudgetSpec:
        """Return it in seconds and bytes."""
        return BudgetSpec(
            seconds=seconds_of(self.runtime or ""),
            written_bytes=bytes_of(self.written or ""),
            file_groups=self.file_groups,
            over=self.over,
        )


#: Of a pipeline that declares none.
NO_LIMIT = Budget.model_construct()
