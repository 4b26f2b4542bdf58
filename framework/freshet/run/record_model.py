"""What a record of a run may hold: whatever else stands in its file, it is none."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", defer_build=True)


class CheckFound(_Strict):
    """What a check found."""

    name: str
    status: str
    rows: _Count


class ErrorTold(_Strict):
    """Why a run failed: a code, and the first line of what it says."""

    code: str
    message: str


class AuditTold(_Strict):
    """What an audit found."""

    checked: _Count
    missing: _Count
    surplus: _Count
    unequal: _Count
    lost: _Count = 0
    share: Annotated[float, Field(ge=0, le=1)]
    upper_bound: Annotated[float, Field(ge=0, le=1)]
    bound_of: str = "rows"
    checkpoint: str = ""


class Record(_Strict):
    """A record, see ``records.of_run``; of a backfill, a service and an audit with what they did."""

    version: Literal[1]
    begun: str
    what: str
    outcome: str
    ended: str = ""
    last: str = ""
    count: _Count = 1
    run_id: str = ""
    reason: str = ""
    seconds: dict[str, _Seconds] = {}
    rows: dict[str, _Count | list[str]] = {}
    checks: list[CheckFound] = []
    error: ErrorTold | None = None
    commits: list[str] = []
    backfill: str = ""
    chunks: _Count = 0
    done: _Count | dict[str, str] = 0
    skipped: _Count = 0
    failed: dict[str, str] = {}
    conflicts: _Count = 0
    source_commits: _Count = 0
    waited_seconds: _Count = 0
    audit: AuditTold | None = None
