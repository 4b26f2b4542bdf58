"""A pipeline's columns held against the schemas in its registry, as ``validate --deep`` does."""

from __future__ import annotations

from freshet.errors import FreshetError
from freshet.plan.stages import Notice
from freshet.problems import Problems
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.registry.compatibility import held_against


def hold_against_registry(spec: PipelineSpec, problems: Problems) -> list[Notice]:
    """Report where the newest schemas of a pipeline's subjects do not fit its columns.

    Args:
        spec: The pipeline; one that does not say ``compatibility: check`` is left alone.
        problems: Receives SCHEMA_MISFIT, and why the registry could not be asked.

    Returns:
        What differs and does no harm.
    """
    topics = spec.source
    if not isinstance(topics, KafkaSpec) or topics.registry is None or not topics.is_compared:
        return []
    subjects = topics.subjects_of(topics.topics)
    if not subjects:
        words = (
            f"{spec.name}: which topics match the pattern the cluster alone says, so that freshet plan compares their schemas."
        )
        return [Notice("SCHEMA_NOT_COMPARED", words)]
    try:
        found = held_against(topics.registry, subjects, topics.columns)
    except FreshetError as error:
        problems.add(spec.file, 0, error.code, error.message, error.next_step)
        return []
    hint = "Correct 'source: {columns: ...}' or the DDL, or let the producers take the schema back."
    notices = []
    for subject, of in found.items():
        for one in of:
            if one.kind == "problem":
                problems.add(spec.file, 0, "SCHEMA_MISFIT", f"{subject}: {one.message}.", hint)
            else:
                notices.append(Notice("SCHEMA_DIFFERS", f"{spec.name}: {subject}: {one.message}."))
    return notices
