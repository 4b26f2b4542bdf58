"""How far a source has been read, as the plan and a checkpoint see it: a value that only its own kind of source understands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from freshet.errors import StateError

#: From the JSON of one version of a kind's form to that of the next one.
Step = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Position(ABC):
    """How far one source has been read; a frozen value.

    Attributes:
        kind: The kind of source that it belongs to: see ``freshet.sources.encodings``.
        version: The version of its form, which a checkpoint keeps beside it; 1 is not written.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1

    @property
    @abstractmethod
    def place(self) -> str:
        """Return what it is a position in, such as a table's path; empty where whoever wrote it did not say."""

    @property
    @abstractmethod
    def text(self) -> str:
        """Return it as people read it, and as ``freshet checkpoint set`` takes it."""

    @property
    @abstractmethod
    def is_exact(self) -> bool:
        """Return False where only the source itself can tell what it counts as read."""

    @property
    def vector_version(self) -> int:
        """Return the version of the vector from which on a reader understands it."""
        return 1

    @abstractmethod
    def as_json(self) -> dict[str, object]:
        """Return what is shown of it, without kind and version."""

    @abstractmethod
    def encoded(self) -> dict[str, object]:
        """Return what a commit keeps of it, without kind and version."""

    @abstractmethod
    def streamer_form(self) -> str | None:
        """Return the text by which HoodieStreamer goes on from here; None where it has none."""

    @abstractmethod
    def is_beyond(self, other: Position) -> bool:
        """Say whether more has been read here than at another position in the same place."""

    @abstractmethod
    def is_at(self, place: str) -> bool:
        """Say whether it is a position in the source at a place, however it was kept and however the place is called."""

    @abstractmethod
    def in_clear(self, place: str, hidden: Mapping[str, str]) -> Position:
        """Return it with its place in clear, as far as that is one that the pipeline reads.

        Args:
            place: Where the pipeline reads now; empty where it reads nothing by that name any more.
            hidden: What is shown of each of the pipeline's places that hold a secret.
        """

    @abstractmethod
    def concealed(self, place: str, hidden: Mapping[str, str]) -> Position:
        """Return it as a commit may carry it: without a secret.

        Args:
            place: Where the pipeline reads now; empty where it reads nothing by that name any more.
            hidden: What is shown of each of the pipeline's places that hold a secret.
        """


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """How the positions of one kind are read back.

    Args:
        kind: The kind.
        version: The newest version of its form.
        read: Makes a position of the newest version's JSON; ValueError, KeyError, TypeError or AttributeError where it is none.
        from_streamer: Makes one of HoodieStreamer's checkpoint, with True where that is of the V1 key; None where it is of
            another kind of source.
        ladder: One step per version that ever was.
    """

    kind: str
    version: int
    read: Callable[[Mapping[str, Any]], Position]
    from_streamer: Callable[[str, bool], Position | None] = lambda text, is_v1: None
    ladder: Mapping[int, Step] = field(default_factory=dict)

    def decode(self, raw: Mapping[str, Any]) -> Position:
        """Return the position that a checkpoint holds.

        Args:
            raw: Its JSON, kind and version included.

        Raises:
            StateError: CHECKPOINT_TOO_NEW.
        """
        version = raw.get("version", 1)
        if type(version) is not int or version < 1:
            raise ValueError("a version is a whole number")
        if version > self.version:
            raise StateError(
                "CHECKPOINT_TOO_NEW",
                f"the table's checkpoint holds a position of kind {self.kind!r} in version {version}, and this freshet knows "
                f"versions up to {self.version}.",
                "Nothing was read or written.",
                "Upgrade freshet to the version that wrote it.",
                version=version,
            )
        for step in range(version, self.version):
            raw = self.ladder[step](raw)
        return self.read(raw)
