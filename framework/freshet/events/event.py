"""What all events have, and what hears them. The kinds are in ``events/kinds.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeVar

from freshet.secrets import redact_tree

Level = Literal["info", "warning", "error"]
# Names that freshet gives itself, and numbers.
_NO_TEXTS = ("pipeline", "run_id", "time")
_OF_ALL = ("message", "code", *_NO_TEXTS)
Kind = TypeVar("Kind", bound="Event")


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened; what exactly is its class's matter.

    Args:
        pipeline: The pipeline it happened to.
        message: The same in words.
        run_id: Of the run it happened in: the one in the run's commit. The bus fills it in.
        time: When, in seconds since 1970. The bus fills it in.
        code: Stable code of an error or a notice; empty where it has none.
    """

    pipeline: str
    message: str
    run_id: str = ""
    time: float = 0.0
    code: str = ""

    #: Stable name of the kind.
    name: ClassVar[str]
    #: How much it matters.
    level: ClassVar[Level] = "info"
    #: True where people are shown the same in another way.
    for_machines: ClassVar[bool] = False

    @property
    def fields(self) -> Mapping[str, object]:
        """Return the kind's parameters for machines, JSON-serialisable."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _OF_ALL}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def as_json(self) -> dict[str, object]:
        """Return the event as a JSON-serialisable mapping, with whatever secrets it holds."""
        return {
            "time": round(self.time, 3),
            "level": self.level,
            "name": self.name,
            "code": self.code,
            "pipeline": self.pipeline,
            "run_id": self.run_id,
            "message": self.message,
            "fields": dict(self.fields),
        }


@dataclass(frozen=True, kw_only=True)
class OfError(Event):
    """An event that an error makes, or may make.

    Args:
        error: The error; its code is the event's, where that has none of its own.
    """

    error: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.code:
            object.__setattr__(self, "code", str(self.error.get("code", "")))

    @property
    def fields(self) -> Mapping[str, object]:
        return self.error


@dataclass(frozen=True, kw_only=True)
class OfResult(Event):
    """An event that ends something.

    Args:
        result: What became of it; empty where the message says it all.
    """

    result: Mapping[str, object] = field(default_factory=dict)

    @property
    def fields(self) -> Mapping[str, object]:
        return self.result


Listener = Callable[[Event], None]


def teller(listen: Listener, kind: Callable[..., Event], pipeline: str) -> Callable[[str], None]:
    """Return what tells events of one kind that are words alone."""
    return lambda words: listen(kind(pipeline=pipeline, message=words))


def redacted(event: Kind) -> Kind:
    """Return an event without any secret that this process has read."""
    texts: dict[str, Any] = {one.name: getattr(event, one.name) for one in fields(event) if one.name not in _NO_TEXTS}
    return replace(event, **redact_tree(texts))
