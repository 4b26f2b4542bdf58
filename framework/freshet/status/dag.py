"""What a scheduler needs to know of a project: what runs when, after what, by which command, and which failures to repeat."""

from __future__ import annotations

from typing import Any

from freshet.errors import Exit
from freshet.project.model.cron import UTC
from freshet.project.model.pipeline import PipelineSpec, Project

#: Version of the document: a reader refuses one that is newer than it knows. By the first, every schedule is in UTC.
VERSION, _ALL_IN_UTC = 2, 1
#: What the next attempt may find otherwise: another writer was first, a store did not answer, a catalogue was not told, or
#: a signal ended the process.
REPEATED = (Exit.RETRY, Exit.SYNC, 128 + 1, 128 + 2, 128 + 9, 128 + 15)


def dag_of(project: Project, overrides: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a project as a scheduler sees it, as JSON.

    Args:
        project: The project.
        overrides: Settings of the command line, which each pipeline's own command repeats.
    """
    settings = [word for setting in overrides for word in ("--set", setting)]
    in_utc = all(one.schedule_zone == UTC for one in project.pipelines if one.schedule)
    return {
        "version": _ALL_IN_UTC if in_utc else VERSION,
        "env": project.env,
        "repeat_on": [int(code) for code in REPEATED],
        "pipelines": [_pipeline(one, project, settings) for one in project.pipelines],
    }


def _pipeline(spec: PipelineSpec, project: Project, settings: list[str]) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "owner": spec.owner,
        "tags": list(spec.tags),
        "schedule": spec.schedule,
        "schedule_zone": spec.schedule_zone,
        "interval_seconds": spec.interval_seconds,
        "upstream": list(project.upstream.get(spec.name, ())),
        "target": spec.target.ref.name,
        "reads": list(dict.fromkeys((spec.source.table.name, *(one.table.name for one in spec.inputs)))),
        "timeout_seconds": spec.limits.timeout_seconds,
        "backfill": spec.backfill is not None,
        "command": ["run", spec.name, *settings],
    }
