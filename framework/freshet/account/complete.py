"""How complete a pipeline's target is, by windows of event times: from commits, checkpoints and the time index. No JVM."""

from __future__ import annotations

from freshet.account.of_table import fed_by
from freshet.account.steps import Step, steps_of
from freshet.account.windows import Completeness, Tally, filled, first_of
from freshet.account.windows_of_table import Counts, count_source, count_target, since_of
from freshet.errors import FreshetError
from freshet.hudi.checkpoint import MAIN, PIPELINE_KEY
from freshet.hudi.instants import zone_of
from freshet.hudi.table import StateReader, TableState
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import EventTimes
from freshet.secrets import redact
from freshet.sources.hudi.position import HUDI
from freshet.sources.hudi.reads import counted

_BY_INDEX = "by the topics' time index, which is of the records' own times"


def completeness_of(spec: PipelineSpec, state: StateReader, now: float) -> Completeness | None:
    """Return how much of each window has been taken; None where the pipeline declares no windows.

    Args:
        spec: The pipeline.
        state: Reader of the tables.
        now: Seconds since 1970.
    """
    times = spec.event_times
    if times is None or not times.window_seconds:
        return None
    found = Completeness(pipeline=spec.name, source=spec.source.table.name, window_seconds=times.window_seconds)
    try:
        target = state.table(spec.target.ref)
        since = since_of(first_of(times, now))
        steps = steps_of(spec, target, since) if target is not None else ()
        published = count_target(target, spec.name, times.window_seconds, since, PIPELINE_KEY) if target is not None else {}
        if isinstance(spec.source, KafkaSpec):
            return _of_topics(spec, state, found, steps, dict(published), times, now)
        if spec.source.kind != HUDI:
            return Completeness(**{**vars(found), "error": f"windows of a source of kind {spec.source.kind} are not counted"})
        source = state.table(spec.source.table)
        if source is None:
            return Completeness(**{**vars(found), "error": f"there is no table {redact(spec.source.table.path)}"})
        return _of_table(found, source, steps, since, dict(published), times, now)
    except FreshetError as error:
        return Completeness(**{**vars(found), "error": redact(f"{error.code}: {error.message}")})


def _of_table(
    found: Completeness,
    source: TableState,
    steps: tuple[Step, ...],
    since: str,
    published: dict[int, int],
    times: EventTimes,
    now: float,
) -> Completeness:
    zone = zone_of(source)
    counts = count_source(source, fed_by(source, steps, MAIN, since), times.window_seconds, zone, since)
    _publish(counts.tallies, published)
    doubts = {}
    if counts.uncounted:
        words = (
            f"{counted(counts.uncounted, 'row')} that wait, or were passed over, may be of it: no commit tells their windows"
        )
        doubts = {begin: words for begin in counts.tallies if counts.upto is None or begin <= counts.upto}
    return Completeness(
        **{
            **vars(found),
            "windows": tuple(filled(counts.tallies, times, now, "row", doubts)),
            "uncounted": counts.uncounted,
            "note": _note(found.source, counts),
        }
    )


def _note(source: str, counts: Counts) -> str:
    if counts.is_told and not counts.is_partly_told:
        return ""
    which = "some commits" if counts.is_told else "the commits"
    return (
        f"{which} of {source} do not tell the windows of their rows, which only a scan could: a pipeline tells them that "
        "writes the table and has event_times with a column, of this window's length or a part of it"
    )


def _of_topics(
    spec: PipelineSpec,
    state: StateReader,
    found: Completeness,
    steps: tuple[Step, ...],
    published: dict[int, int],
    times: EventTimes,
    now: float,
) -> Completeness:
    # Few pipelines read topics, and their client takes long to load.
    from freshet.account.windows_of_topics import count_topics
    from freshet.sources.kafka.source import KafkaSource
    from freshet.sources.registry import find_source, kind_of

    source = find_source(spec, state)
    if not isinstance(source, KafkaSource):
        return Completeness(**{**vars(found), "unit": "record", "error": redact(f"there is no {kind_of(spec).what(spec)}")})
    size = times.window_seconds
    begins = range(first_of(times, now), int(now) + 1, size)
    tallies, doubts = count_topics(source.facts, source.broker, steps, begins, size)
    _publish(tallies, published)
    windows = tuple(filled(tallies, times, now, "record", doubts))
    return Completeness(**{**vars(found), "windows": windows, "unit": "record", "note": _BY_INDEX})


def _publish(tallies: dict[int, Tally], published: dict[int, int]) -> None:
    for begin, events in published.items():
        tallies.setdefault(begin, Tally()).publish(events)
