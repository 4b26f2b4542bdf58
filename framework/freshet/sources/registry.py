"""The kinds of sources, and how a pipeline's main source and its other inputs are found. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from freshet.errors import StateError
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import StateReader
from freshet.project.model.files import FILES
from freshet.project.model.kafka import KAFKA
from freshet.project.model.pipeline import InputSpec, PipelineSpec
from freshet.sources.hudi.input import find_input as find_hudi_input
from freshet.sources.hudi.position import HUDI
from freshet.sources.hudi.source import KIND as OF_HUDI
from freshet.sources.position import Position
from freshet.sources.protocol import InputTable, Source, SourceKind


def _of_kafka() -> SourceKind:
    # Few pipelines read topics, and an idle tick is short.
    from freshet.sources.kafka.source import KIND

    return KIND


def _of_files() -> SourceKind:
    from freshet.sources.files.source import KIND

    return KIND


#: By the name that ``SourceSpec.kind`` has; ``freshet.sources.encodings`` has their positions, ``readers`` what reads them.
KINDS: dict[str, Callable[[], SourceKind]] = {HUDI: lambda: OF_HUDI, KAFKA: _of_kafka, FILES: _of_files}


def kind_of(spec: PipelineSpec) -> SourceKind:
    """Return the kind of a pipeline's main source.

    Raises:
        StateError: SOURCE_KIND_UNKNOWN.
    """
    return kind_named(spec.source.kind, spec.name)


def kind_named(kind: str, name: str) -> SourceKind:
    """Return a kind of source by its name.

    Args:
        kind: The kind's name.
        name: The pipeline's, for messages.

    Raises:
        StateError: SOURCE_KIND_UNKNOWN.
    """
    if kind not in KINDS:
        raise StateError(
            "SOURCE_KIND_UNKNOWN",
            f"{name}: its main source is of kind {kind[:40]!r}, and this freshet reads {', '.join(map(repr, KINDS))}.",
            "Nothing was read or written.",
            "Upgrade freshet to a version that reads it.",
            kind=kind[:40],
        )
    return KINDS[kind]()


def find_source(spec: PipelineSpec, state: StateReader) -> Source | None:
    """Look at a pipeline's main source; None where there is none.

    Raises:
        StateError: SOURCE_KIND_UNKNOWN.
    """
    return kind_of(spec).find(spec, state)


def look_together(specs: Sequence[PipelineSpec], state: OneLook) -> None:
    """Ask what can be asked of several pipelines' main sources with one question; what each of them is told then stands.

    Args:
        specs: The pipelines.
        state: The look in which they are looked at.
    """
    for kind in dict.fromkeys(spec.source.kind for spec in specs):
        of_kind = [spec for spec in specs if spec.source.kind == kind]
        if kind in KINDS and len(of_kind) > 1:
            KINDS[kind]().together(of_kind, state)


def source_of(spec: PipelineSpec, state: StateReader) -> Source:
    """Look at a pipeline's main source, which must be there and readable.

    Raises:
        StateError: SOURCE_KIND_UNKNOWN, SOURCE_MISSING or PARTITION_UNREADABLE.
    """
    source = find_source(spec, state)
    if source is None:
        kind = kind_of(spec)
        raise StateError(
            "SOURCE_MISSING",
            f"{spec.name}: there is no {kind.what(spec)}.",
            "Nothing was read or written.",
            kind.remedy,
            path=spec.source.place,
        )
    source.refuse_unreadable()
    return source


def position_by_hand(spec: PipelineSpec, state: StateReader, text: str) -> Position:
    """Return the position in a pipeline's main source that somebody sets.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
        text: The position; it need be no one that the source has.
    """
    return kind_of(spec).position_by_hand(spec, state, text)


def find_input(spec: PipelineSpec, one: InputSpec, state: StateReader) -> InputTable | None:
    """Look at another table that a pipeline reads; None where there is none."""
    return find_hudi_input(spec, one, state)
