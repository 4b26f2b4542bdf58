"""Hold a pipeline's columns against the schemas that its topics' producers write now, before their records are read."""

from __future__ import annotations

from collections.abc import Sequence

from freshet.errors import StateError
from freshet.project.model.kafka import KafkaSpec


def refuse_misfits(name: str, spec: KafkaSpec, subjects: Sequence[str]) -> None:
    """Refuse topics whose newest schemas do not fit the columns.

    Args:
        name: The pipeline's name, for messages.
        spec: Its source, with a registry.
        subjects: Those of the topics that are read.

    Raises:
        StateError: SCHEMA_MISFIT or REGISTRY_SUBJECT_UNKNOWN.
        FreshetError: As ``freshet.registry.http.ask``.
    """
    # What asks over the network takes a while to load, and few pipelines have a registry.
    from freshet.registry.compatibility import held_against

    if spec.registry is None:
        return
    found = held_against(spec.registry, subjects, spec.columns)
    wrong = [f"{subject}: {one.message}" for subject, of in found.items() for one in of if one.kind == "problem"]
    if wrong:
        raise StateError(
            "SCHEMA_MISFIT",
            f"{name}: the newest schema does not fit the columns: {'; '.join(wrong)}.",
            "Nothing was read or written.",
            "Correct 'source: {columns: ...}' or the DDL, or let the producers take the schema back; without 'compatibility: "
            "check' each record is held against the columns when it is read.",
            problems=wrong,
        )
