"""Say in words why topics could not be read while a batch was made. The texts are those of Spark 3.5 and Kafka's client 3.4."""

from __future__ import annotations

import re

from freshet.errors import DataError, FreshetError, RetryableError, StateError, foreign_text
from freshet.project.model.pipeline import TableRef
from freshet.quality.refusals import Refused

_UNTOUCHED = "Nothing was written, and the checkpoint stays."
_LOST = re.compile(r"Cannot fetch (?:offset|record)|OffsetOutOfRangeException|Some data may have been lost")
_ERRORS = r"org\.apache\.kafka\.common\.errors\."
_DENIED = re.compile(rf"{_ERRORS}(?:\w*Authentication|\w*Authorization)Exception")
_AWAY = re.compile(rf"{_ERRORS}\w+Exception|org\.apache\.kafka\.\S*KafkaException|Could not fetch .* records? within")


def of_record(target: TableRef, refused: Refused) -> FreshetError:
    """Return the error of a record that cannot be decoded.

    Args:
        target: The table that was written.
        refused: What the query refused: the reason as its value, the record's place as its row.
    """
    return DataError(
        "RECORD_UNREADABLE",
        f"{target.name}: a record cannot be decoded: {refused.value} ({refused.row}).",
        _UNTOUCHED,
        "Correct the producer, or 'source:'; to send such records to the quarantine, and go on: checks: [{name: decoded, "
        "malformed: true, severity: drop}]",
        reason=refused.value,
        record=refused.row,
    )


def of_kafka(target: TableRef, text: str) -> FreshetError | None:
    """Return the error of topics that could not be read; None where it was something else.

    Args:
        target: The table that was written.
        text: What Spark raised, causes included.
    """
    said = foreign_text(text)
    if "kafka" not in text.lower():
        return None
    if _LOST.search(text):
        return StateError(
            "OFFSETS_LOST",
            f"{target.name}: records went while they were read: {said}",
            _UNTOUCHED,
            "Run the same command again: the plan says which records are gone.",
            cause=said,
        )
    if _DENIED.search(text):
        return StateError(
            "KAFKA_DENIED",
            f"{target.name}: the Kafka cluster does not let Spark read: {said}",
            _UNTOUCHED,
            "Check security.protocol, sasl.* and ssl.* under 'hoodie:', and that the executors have the files that they name.",
            cause=said,
        )
    if _AWAY.search(text):
        return RetryableError(
            "KAFKA_UNREACHABLE",
            f"{target.name}: the Kafka cluster failed while it was read: {said}",
            _UNTOUCHED,
            "Run the same command again when the brokers answer.",
            cause=said,
        )
    return None
