"""Make events of what was read of a changelog, and say of the rest why it is none: of one reading, which is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from freshet.changelog.adapter import FROM, ORIGIN, SKIPPED
from freshet.changelog.conform import REASON, REASONS, STOPS
from freshet.changelog.counts import Read
from freshet.changelog.declared import Changelog, adapter_of
from freshet.changelog.fields import EVENT, event_type
from freshet.changelog.frames import adapt, mark_typed, mergeable
from freshet.changelog.reference import Given
from freshet.errors import DataError
from freshet.event_times.counted import Counted
from freshet.plan.row_stages import AdaptEvents
from freshet.project.model.kafka import ORIGIN as RECORD
from freshet.quality.contract import ORIGINAL
from freshet.quality.contract import REASONS as WHY
from freshet.quality.event_times import aggregates, counted_of, grouped, groups_of
from freshet.quality.kept import keep_rows
from freshet.sources.kafka.read.decode import original
from freshet.types.columns import Struct
from freshet.types.from_json import type_from_spark

_UNTOUCHED = "Nothing was written: the table and the checkpoint stay."
_REMEDY = (
    "Mend what makes them, or what the YAML says of them; or send such events to the quarantine: "
    "checks: [{name: conforms, severity: drop, malformed: true}]"
)
_SHOWN = 200
_PLACE = ("topic", "partition", "offset")


@dataclass(frozen=True)
class Events:
    """What was read of a changelog.

    Args:
        rows: The table's columns and ``_event``, of what can be merged.
        aside: What goes to the quarantine, see ``sources.protocol.Reader``; None where nothing does.
        read: Their numbers.
        event_times: When those that can be merged were made; None where nothing was read.
    """

    rows: DataFrame
    aside: DataFrame | None
    read: Read
    event_times: Counted | None


def read_events(stage: AdaptEvents, rows: DataFrame, pipeline: str) -> Events:
    """Read rows, or messages, as events.

    Args:
        stage: How they are read.
        rows: What was read of the source.
        pipeline: Its name, for messages.

    Raises:
        DataError: EVENTS_NOT_THERE, SOURCE_TRUNCATED, or EVENTS_UNFIT where no check sends them to the quarantine.
    """
    log = stage.changelog
    marked = keep_rows(_whole(marked_events(log, rows, pipeline, stage.also), stage.also))
    read, event_times = _count(log, marked, stage.window_seconds)
    stops = next((reason for reason in STOPS if reason in read.reasons), "")
    if stops:
        raise DataError(
            "SOURCE_TRUNCATED",
            f"{pipeline}: {read.first[stops]}: {REASONS[stops]}.",
            _UNTOUCHED,
            "Move the table away, have its source send all rows anew, and begin behind that message: "
            f"freshet checkpoint set {pipeline} with the position after it.",
        )
    if read.aside and not stage.rule:
        raise DataError("EVENTS_UNFIT", f"{pipeline}: {_in_words(read)}.", _UNTOUCHED, _REMEDY, reasons=read.aside)
    aside = None
    if read.aside:
        bad = marked.where(F.col(REASON).isNotNull() & (F.col(REASON) != SKIPPED))
        shown = bad.select(F.col(REASON), f"{FROM}.*")
        aside = shown.select(F.array(_why()).alias(WHY), (F.col(ORIGINAL) if log.is_typed else original()).alias(ORIGINAL))
    return Events(mergeable(marked, stage.also), aside, read, event_times)


def marked_events(log: Changelog, rows: DataFrame, pipeline: str, also: Sequence[str] = ()) -> DataFrame:
    """Return rows, or messages, as changes of the table, each with the reason why it is none; see ``frames.adapt``.

    Args:
        log: How they are read.
        rows: What was read of the source.
        pipeline: Its name, for messages.
        also: Columns of messages that go along, in ``FROM``.

    Raises:
        DataError: EVENTS_NOT_THERE.
    """
    if log.is_typed:
        _check_typed(log, rows, pipeline)
        reference = log.source.reference
        assert isinstance(reference, Given), "rows that have an event have its reference key"
        whole = F.to_json(F.struct(*(F.col(f"`{name}`") for name in rows.columns)), {"ignoreNullFields": "false"})
        return mark_typed(reference, log.layout, rows.withColumn(FROM, F.struct(whole.alias(ORIGINAL))))
    _check_messages(rows, pipeline)
    told = [F.col("value").cast("binary").alias("value") if one == "value" else F.col(f"{RECORD}.{one}") for one in ORIGIN]
    return adapt(adapter_of(log), log.layout, rows.select(*told, *also), also)


def _whole(marked: DataFrame, also: Sequence[str]) -> DataFrame:
    """Send aside every change of a message of which one goes aside: by its id it would be taken out of the quarantine."""
    if not also:
        return marked
    message = Window.partitionBy(*(F.col(f"{FROM}.`{one}`") for one in also))
    first = F.min(F.when(F.col(REASON) != SKIPPED, F.col(REASON))).over(message)
    return marked.withColumn(REASON, F.coalesce(first, F.col(REASON)))


def _count(log: Changelog, marked: DataFrame, window_seconds: int) -> tuple[Read, Counted | None]:
    place = F.substring(f"{FROM}.{ORIGINAL}", 1, _SHOWN) if log.is_typed else F.struct(*(f"{FROM}.{one}" for one in _PLACE))
    merges = F.col(REASON).isNull()
    time = F.when(merges, F.col(f"{EVENT}.timestamp"))
    found = (
        grouped(marked, time, window_seconds, [F.col(REASON)])
        .agg(F.count(F.lit(1)).alias("events"), F.min(place).alias("place"), *aggregates(merges))
        .collect()
    )
    told = groups_of(found)
    # What goes aside has no event time, and so no window.
    read = Read(
        events=sum(int(row["events"]) for row in told),
        reasons={str(row[REASON]): int(row["events"]) for row in told if row[REASON] is not None},
        first={str(row[REASON]): _place(row["place"]) for row in told},
    )
    return read, counted_of(found, window_seconds)


def _place(found: object) -> str:
    return "/".join(map(str, found)) if isinstance(found, tuple) else str(found)


def _why() -> Column:
    words = F.create_map(*(F.lit(one) for pair in REASONS.items() for one in pair))
    return F.concat(F.col(REASON), F.lit(": "), F.element_at(words, F.substring_index(REASON, ":", 1)))


def _in_words(read: Read) -> str:
    shown = [
        f"{count:,} {reason} ({REASONS[reason.partition(':')[0]]}), the first one is {read.first[reason]}"
        for reason, count in read.aside.items()
    ]
    return f"{sum(read.aside.values()):,} of {read.events:,} events do not conform: " + "; ".join(shown)


def _check_typed(log: Changelog, rows: DataFrame, pipeline: str) -> None:
    names = {name.lower() for name in rows.columns}
    missing = [c.name for c in log.layout.columns if c.name.lower() not in names]
    wrong = [f"it has no column {name}" for name in (*missing, *(() if EVENT in rows.columns else (EVENT,)))]
    if EVENT in rows.columns:
        found = type_from_spark(rows.schema[EVENT].dataType.jsonValue())
        fields = dict(found.fields) if isinstance(found, Struct) else {}
        wrong += [
            f"{EVENT}.{name} is {fields.get(name, 'missing')} and not {kind}"
            for name, kind in event_type().fields
            if str(fields.get(name)) != str(kind)
        ]
    _refuse(wrong, pipeline, "Rows of events have the target's columns, and _event as docs/concepts/changelog.md has it.")


def _check_messages(rows: DataFrame, pipeline: str) -> None:
    wrong = [f"it has no column {name}" for name in ("value", RECORD) if name not in rows.columns]
    if not wrong:
        found = type_from_spark(rows.schema[RECORD].dataType.jsonValue())
        fields = {name for name, _ in found.fields} if isinstance(found, Struct) else set()
        wrong = [f"{RECORD} has no field {one}" for one in ORIGIN if one != "value" and one not in fields]
    _refuse(wrong, pipeline, "Messages in a table have the columns value and _kafka, as 'format: bytes' reads them of a topic.")


def _refuse(wrong: list[str], pipeline: str, advice: str) -> None:
    if wrong:
        raise DataError("EVENTS_NOT_THERE", f"{pipeline}: the source holds no events: {'; '.join(wrong)}.", _UNTOUCHED, advice)
