"""What people are told of a target's logic: since when it is another one, what still holds an older one, and what renews it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from freshet.errors import FreshetError
from freshet.hudi.instants import readable
from freshet.hudi.options import concurrency_of
from freshet.hudi.table import StateReader
from freshet.plan.logic import known_logic
from freshet.plan.logic_record import UNKNOWN, after, moment_of
from freshet.project.model.logic import digest_of, digests_by_name
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.hudi.reads import counted

_UNITS = {"hour": "hour", "day": "day", "month": "month"}
# Of a longer range one commit for each partition would take long.
_LONG = timedelta(days=62)
_MOST_PARTS = 4


@dataclass(frozen=True, kw_only=True)
class LogicReport:
    """What a target's commits tell of its logic.

    Args:
        known: False where it is not known which rows were made by which logic; then ``why``.
        changed: True where the last commit was made by another logic than the pipeline has now.
        since: Completion time of the last commit by another logic; empty where there is none.
        parts: What has changed since that commit, by name; empty where that is not known.
        older: Paths of the partitions that hold rows of another logic.
        unknown: Paths of those whose commits do not tell.
        partitions: How many partitions there are.
        complete: True where no other partition can hold rows.
        first, last: Values of the first and the last time partition that holds rows of another logic, or of which it is not
            known; empty where there are none.
        unit: ``hour``, ``day`` or ``month``; empty where no partition column follows from time.
        periods: How many of these hold rows of another logic, and of how many it is not known.
        command: What renews them; empty where there is nothing to renew.
    """

    known: bool
    changed: bool = False
    since: str = ""
    parts: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    partitions: int = 0
    complete: bool = False
    first: str = ""
    last: str = ""
    unit: str = ""
    periods: Mapping[str, int] = field(default_factory=dict)
    command: str = ""
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable mapping."""
        listed = {name: list(getattr(self, name)) for name in ("parts", "older", "unknown")}
        return {**vars(self), **listed, "periods": dict(self.periods)}


def report_logic(spec: PipelineSpec, state: StateReader) -> LogicReport | None:
    """Say what a pipeline's target holds of older logic; None before its first commit.

    Args:
        spec: The pipeline.
        state: Read-only view of the tables.
    """
    target = state.table(spec.target.ref)
    if target is None or not spec.logic:
        return None
    found = None
    with suppress(FreshetError):
        found = known_logic(spec, target)
    refresh = f"freshet run {spec.name} --full-refresh"
    if found is None or not found.standing.digest:
        return LogicReport(known=False, why="the commits do not tell by which logic their rows were made; the next ones will")
    now, standing = digest_of(spec.logic), found.standing
    changed = standing.digest != now
    names = digests_by_name(spec.logic) if changed and found.parts else {}
    parts = tuple(
        name
        for name in (*names, *(name for name in found.parts if name not in names))
        if names and names.get(name) != found.parts.get(name)
    )
    held = standing.held
    if held is None:
        return LogicReport(
            known=False,
            changed=changed,
            since=standing.at if changed else "",
            parts=parts,
            why="the table has more partitions than each commit can tell of, or a history that cannot be read",
        )
    unknown = tuple(sorted(path for path, one in held.items() if one == UNKNOWN))
    older = tuple(sorted(path for path, one in held.items() if one not in (now, UNKNOWN)))
    moments = _moments(spec, (*older, *unknown))
    values = sorted({moment for moment in moments.values() if moment is not None})
    datable = bool(moments) and None not in moments.values()
    how = spec.backfill
    unit = _UNITS[how.granularity] if how is not None and how.partition else ""
    # A table with one writer takes no backfill beside its runs.
    ranged = datable and concurrency_of(spec) != "SINGLE_WRITER"
    command = _backfill(spec, values[0], values[-1]) if ranged else refresh if older or unknown else ""
    form = {"hour": "%Y-%m-%d-%H", "day": "%Y-%m-%d", "month": "%Y-%m"}.get(unit, "")
    periods = {name: len({moments[path] for path in paths}) for name, paths in (("older", older), ("unknown", unknown))}
    return LogicReport(
        known=True,
        changed=changed,
        since=standing.at if changed else standing.before if older else "",
        parts=parts,
        older=older,
        unknown=unknown,
        partitions=len(held),
        complete=standing.whole,
        first=f"{values[0]:{form}}" if datable else "",
        last=f"{values[-1]:{form}}" if datable else "",
        unit=unit,
        periods=periods if datable else {},
        command=command,
    )


def logic_lines(report: LogicReport | None, now: datetime | None = None) -> list[str]:
    """Return a report as lines of text; none where every row is of the present logic."""
    if report is None:
        return []
    lines = []
    if report.changed:
        more = f" and {len(report.parts) - _MOST_PARTS} more" if len(report.parts) > _MOST_PARTS else ""
        what = f": {', '.join(report.parts[:_MOST_PARTS])}{more}" if report.parts else ""
        lines.append(f"changed since the commit of {readable(report.since, now=now)}{what}")
    if not report.known:
        return [*lines, f"{'what stands by an older one is ' * report.changed}not known: {report.why}"]
    told = [words for words in (_count(report, "older", report.older), _count(report, "unknown", report.unknown)) if words]
    if told:
        until = f" to {report.last}" if report.last != report.first else ""
        lines.append("; ".join(told) + (f"; {report.first}{until}" if report.first else ""))
    if not report.complete and (told or report.changed):
        lines.append("there may be more of it in partitions that no commit names any longer")
    if report.command:
        lines.append(f"to renew {'it' if len({*report.older, *report.unknown}) == 1 else 'them'}: {report.command}")
    return lines


def logic_in_short(report: LogicReport | None) -> str:
    """Return a report in one line; empty where every row is of the present logic, or nothing is known."""
    if report is None:
        return ""
    told = [_count(report, "older", report.older), _count(report, "unknown", report.unknown)]
    return "; ".join(words for words in ("its logic has changed" * report.changed, *told) if words)


def _count(report: LogicReport, name: str, paths: Collection[str]) -> str:
    if not paths:
        return ""
    only = report.partitions == 1 and not report.unit
    number = report.periods.get(name, len(paths))
    what = "the table" if only else counted(number, report.unit or "partition")
    one = only or number == 1
    if name == "unknown":
        return f"by which logic {what} {'was' if one else 'were'} made is not known"
    since = f", of commits up to {readable(report.since)}" if report.since and not report.changed else ""
    return f"{what} still hold{'s' if one else ''} rows of an older logic{since}"


def _moments(spec: PipelineSpec, paths: Collection[str]) -> dict[str, datetime | None]:
    how = spec.backfill
    if how is None or not how.partition:
        return dict.fromkeys(paths)
    number = spec.target.partition_by.index(how.partition)
    found: dict[str, datetime | None] = {}
    for path in paths:
        values = path.split("/")
        value = values[number].rpartition("=")[2] if len(values) == len(spec.target.partition_by) else ""
        found[path] = moment_of(value, how.granularity)
    return found


def _backfill(spec: PipelineSpec, first: datetime, last: datetime) -> str:
    assert spec.backfill is not None
    end = after(last, spec.backfill.granularity)
    form = "%Y-%m-%dT%H:%M" if spec.backfill.granularity == "hour" else "%Y-%m-%d"
    chunk = " --chunk 1mo" if end - first > _LONG and spec.backfill.granularity != "month" else ""
    return f"freshet backfill {spec.name} --start {first:{form}} --end {end:{form}}{chunk}"
