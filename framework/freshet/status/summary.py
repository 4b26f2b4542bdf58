"""What a pipeline is, in short: for schedulers, and for people who look at a project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from freshet.plan.checks import keeping_older
from freshet.project.model.pipeline import Project


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """One pipeline of a project, without its settings.

    Args:
        name: Its name.
        file: Its YAML file, relative to the project.
        owner, description, schedule, tags: What people and schedulers read.
        schedule_zone: The schedule's time zone.
        interval_seconds: Of a continuous pipeline, how long at least from the begin of a run to the next; None of others.
        target: The table that it writes.
        source: Path of the table that it reads.
        upstream: The pipelines whose targets it reads.
        fingerprint: Changes with all that defines its result.
        keeps_older: Its checks that drop a row and leave the older row of the key published.
    """

    name: str
    file: str
    owner: str
    description: str
    schedule: str
    schedule_zone: str
    interval_seconds: int | None
    tags: tuple[str, ...]
    target: str
    source: str
    upstream: tuple[str, ...]
    fingerprint: str
    keeps_older: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}


def pipelines_of(project: Project) -> tuple[Pipeline, ...]:
    """Return the pipelines of a project in short, upstream before downstream."""
    return tuple(
        Pipeline(
            name=one.name,
            file=one.file,
            owner=one.owner,
            description=one.description,
            schedule=one.schedule,
            schedule_zone=one.schedule_zone,
            interval_seconds=one.interval_seconds,
            tags=one.tags,
            target=one.target.ref.name,
            source=one.source.table.path,
            upstream=tuple(project.upstream.get(one.name, ())),
            fingerprint=one.fingerprint,
            keeps_older=tuple(keeping_older(one)),
        )
        for one in project.pipelines
    )
