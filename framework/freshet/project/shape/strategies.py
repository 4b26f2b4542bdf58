"""The shape of the strategies in a pipeline file: how inputs are read, how rows are written, how dates are repaired."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

Name = Annotated[str, StringConstraints(min_length=1)]
_DURATION = re.compile(r"(\d{1,6})\s*([smhdw])")
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?([kMGT]?B)")
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def refused(said: str, hint: str, code: str = "BAD_VALUE") -> PydanticCustomError:
    """Return what a validator raises for a value that it refuses: its type is the problem's code, its context has the hint.

    Args:
        said: What is wrong, behind the key's name.
        hint: What to write instead.
        code: The problem's code.
    """
    # As a value: in a template, braces would name what stands in the context.
    return PydanticCustomError(code, "{said}", {"said": said, "hint": hint})


def one_as_list(value: Any) -> Any:
    """Let a list of one be written as the one."""
    return [value] if isinstance(value, str) else value


def seconds_of(text: str) -> int | None:
    """Return a duration such as ``24h`` or ``7d`` in seconds, None where it is none."""
    match = _DURATION.fullmatch(text.strip())
    return int(match[1]) * _SECONDS[match[2]] if match else None


def bytes_of(text: str) -> int | None:
    """Return a size such as ``500MB`` or ``1.5 TB`` in bytes, None where it is none."""
    match = _SIZE.fullmatch(text.strip())
    return int(float(match[1]) * _BYTES[match[2]]) if match else None


def _size(value: str) -> str:
    if "{{" not in value and bytes_of(value) is None:
        raise refused("this is no size.", "Write for instance 500MB or 20GB.")
    return value


def _duration(value: str) -> str:
    if seconds_of(value) is None:
        raise refused("a duration is a number and s, m, h, d or w.", "Write for instance 24h or 7d.")
    return value


Size = Annotated[str, StringConstraints(min_length=1), AfterValidator(_size)]
Duration = Annotated[str, AfterValidator(_duration)]
_TEXT = {"type": "string", "minLength": 1}
OneOrMore = Annotated[
    list[Name],
    Field(min_length=1),
    BeforeValidator(one_as_list),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}),
]


class Model(BaseModel):
    """Base of all models: nothing unknown, nothing changed, nothing of the input in an error's text."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, strict=True, defer_build=True)


class Input(Model):
    """Another table that the transformation names."""

    table: Name = Field(description="Table as database.table; the database is one of the warehouse's.")
    read: Literal["snapshot", "incremental", "affected_partitions"] = Field(
        "snapshot",
        description="How the table is read: snapshot is the whole table; incremental is what changed within the look-back; "
        "affected_partitions is only the partitions that the rows of <SRC> need.",
    )
    lookback: Duration | None = Field(
        None,
        description="read: incremental: how far back before the present window commits are read, by completion time. "
        "[default: 24h]",
    )
    drives: dict[str, Name] = Field(
        default_factory=dict,
        description="read: incremental: a change in this table brings the main source's rows of the same key into <SRC>, "
        "though they did not change; this table's column to the main source's column.",
    )
    on: dict[str, OneOrMore] = Field(
        default_factory=dict,
        description="read: affected_partitions: this table's partition column to an SQL expression over the columns of <SRC>, "
        "or several.",
    )
    as_of: Literal["latest", "run_start", "checkpoint"] = Field(
        "latest",
        description="run_start reads the version that stood when the run was planned; checkpoint, for the main source's own "
        "table, the version that the target has seen so far: the rows as they were before this change.",
    )


#: What a verdict may find, and an author may accept.
Reason = Literal[
    "ABSENCE_FROM_PART",
    "BEFORE_AS_DATA",
    "CHECK_SEES_BATCH",
    "DELETES_OF_OTHERS",
    "DELETES_STAY",
    "FAN_OUT",
    "GROUP_IN_PART",
    "GROUP_MAY_VANISH",
    "INNER_JOIN_DROPS",
    "INPUT_DOES_NOT_DRIVE",
    "INSERT_REFUSES_CHANGES",
    "KEEPS_OLD_VALUES",
    "KEYS_MAY_COLLIDE",
    "KEY_MAY_CHANGE",
    "LOOKBACK_IS_BOUNDED",
    "MOVED_ROW_TWICE",
    "NOT_ANALYSED",
    "NOT_DETERMINISTIC",
    "NOT_MATCHED_IS_LOST",
    "NOT_RECOMPUTABLE",
    "OLDER_ROW_STAYS",
    "OLD_GROUP_NOT_TOUCHED",
    "ORDERING_MAY_GO_BACK",
    "ORDER_IS_OPEN",
    "OUTER_JOIN_OF_PART",
    "OVERWRITES_WITH_PART",
    "PARTITIONS_IN_PART",
    "PARTITION_MAY_EMPTY",
    "PARTNER_DECIDES_ROWS",
    "PYTHON_STEP",
    "ROWS_FILTERED",
    "ROWS_LIMITED",
    "SET_OPERATION_OF_PART",
    "STARTS_AT_LATEST",
    "WINDOW_IN_PART",
]


class Accept(Model):
    """A reason why increments may differ from a recompute, which the author accepts."""

    code: Reason = Field(description="The reason's code, as `freshet explain` names it.")
    why: Annotated[str, StringConstraints(min_length=3)] = Field(description="Why it does not happen, or does not matter.")
    of: Name | None = Field(None, description="The input, column or check that it is about. [default: all]")


class Write(Model):
    """How the batch reaches the target, where that is more than Hudi's write operation says."""

    strategy: Literal["merge", "partial_update", "full_outer_join", "history", "append"] = Field(
        description="merge sets the named columns and leaves every other as it is; partial_update sets those of them that a "
        "row carries; full_outer_join joins the whole non-partitioned target and overwrites it. Of a changelog: history keeps "
        "each version of a row, with the interval in which it was valid; append keeps each event.",
    )
    columns: Annotated[list[Name], Field(min_length=1)] | None = Field(
        None,
        description="merge, partial_update, full_outer_join: the columns that this pipeline owns; it leaves every other column "
        "as it is.",
    )
    when_not_matched: Literal["insert", "ignore"] = Field(
        "insert",
        description="What becomes of a row whose key is not in the target: insert leaves the other columns null.",
    )
    ordering: Name | None = Field(
        None,
        description="The owned column by which an older update loses. [default: the table's ordering field]",
    )
    changed_columns: Name | None = Field(
        None,
        description="partial_update: a column of the batch, array<string>, that names the columns a row carries, so that null "
        "can be a value; without it null means unchanged.",
    )


class Backfill(Model):
    """How a range of dates is computed again."""

    event_time: Name = Field(description="Column of the main source that says when a row happened; cuts the range.")
    inputs: dict[str, Name] = Field(
        default_factory=dict,
        description="Event-time columns of inputs that are to be cut by the same range, by input.",
    )
    partition: Name | None = Field(
        None,
        description="The target's partition column that follows from the event time; chunks are whole partitions.",
    )
    granularity: Literal["hour", "day", "month"] = Field("day", description="What one such partition holds.")
    write: Literal["upsert", "insert_overwrite"] = Field(
        "upsert",
        description="upsert the chunk's rows, or replace the chunk's partitions by them.",
    )
