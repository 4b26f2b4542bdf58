"""What only the resident process knows of a pipeline, as samples of the registry's metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from freshet.metrics.registry import ENV
from freshet.metrics.samples import Sample
from freshet.secrets import redact


def samples_of_agenda(shown: Mapping[str, Mapping[str, Any]], env: str) -> tuple[Sample, ...]:
    """Return the samples of an agenda, those of one metric side by side.

    Args:
        shown: As ``Agenda.shown`` returns it.
        env: The environment's name.
    """

    def sample(name: str, pipeline: str, value: float) -> Sample:
        return Sample(name=name, labels=((ENV, redact(env)), ("pipeline", redact(pipeline))), value=value)

    return (
        *(sample("freshet_serve_waiting_seconds", name, one["waiting_seconds"]) for name, one in shown.items()),
        *(sample("freshet_serve_paused", name, int(one["paused"])) for name, one in shown.items()),
    )
