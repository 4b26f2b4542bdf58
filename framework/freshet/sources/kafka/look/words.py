"""Topics and what is read of them, in words."""

from __future__ import annotations

from datetime import datetime

from freshet.errors import StateError
from freshet.project.model.kafka import KafkaSpec
from freshet.sources.hudi.reads import Window, counted


def what(topics: KafkaSpec) -> str:
    """Return what should be there."""
    named = f"topic that matches {topics.pattern}" if topics.pattern else f"topic {', '.join(topics.topics)}"
    return f"{named} at {topics.servers}"


def describe(window: Window, zone: str) -> str:
    """Return what a window reads.

    Args:
        window: The window.
        zone: Of no use: offsets name no times.
    """
    left = f"; {counted(window.waiting_rows, 'record')} left for the next run" if window.waiting_rows else ""
    return f"offsets {window.begin_inclusive} up to {window.end_inclusive}{left}"


def reading(window: Window, zone: str) -> str:
    """Return what a window reads while it is read, as ``describe``."""
    return f"at most {counted(window.rows, 'record')} up to {window.end_inclusive}"


def readable(text: str, zone: str, now: datetime | None) -> str:
    """Return a position as people read it: offsets are read as they are.

    Args:
        text: The position.
        zone, now: Of no use: offsets name no times.
    """
    return text


def no_versions(name: str) -> StateError:
    """Return the error that a pipeline's topics are wanted as they were."""
    return StateError(
        "TOPIC_HAS_NO_VERSIONS",
        f"{name}: topics of Kafka have no earlier version of themselves.",
        "Nothing was read or written.",
        f"To read records again: freshet checkpoint set {name} with the time or the offsets from which on; or "
        "land the topic in a raw table, and let that be the main source.",
    )
