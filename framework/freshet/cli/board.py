"""What goes on in a command, as people are told: which pipelines are at work, at what, how far, and how long yet."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from freshet.events.event import Event
from freshet.jvm.spark_counts import Counts
from freshet.sources.hudi.reads import counted

#: Events with which a pipeline is through.
LAST = ("committed", "idle", "failed", "skipped")
# Events that only move what is shown.
_MOVES = ("phase", "chunk", "done")
IN_WORDS = {"idle": "nothing to do"}
_CODED = re.compile(r"[A-Z][A-Z_]+[A-Z]: ")
# Of too few tasks, or after too short a time, nobody can tell how long the rest takes.
_TOLD_FROM_SHARE, _TOLD_FROM_SECONDS = 0.1, 5.0
_BAR = 16


@dataclass(kw_only=True)
class _Row:
    words: str
    begun: float
    part: str = ""
    ends: float | None = None
    counts: Counts | None = None


class Board:
    """What is at work now, kept up by the events of a run and by what Spark has counted.

    Args:
        total: How many pipelines were asked for.
        clock: Seconds, of any beginning.
    """

    def __init__(self, total: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.total, self.clock = total, clock
        self.rows: dict[str, _Row] = {}
        self.through: Counter[str] = Counter()
        self.failed: list[str] = []

    def heard(self, event: Event) -> bool:
        """Take an event in; return True where it has words of its own that should stay to be read."""
        if event.name == "phase" and _CODED.match(event.message):
            # Told on the way, and no step: the next one would be drawn over it.
            return True
        if event.name == "phase":
            # What began last stands last.
            before = self.rows.pop(event.pipeline, _Row(words="", begun=0.0))
            self.rows[event.pipeline] = _Row(words=event.message, begun=self.clock(), part=before.part, ends=before.ends)
        row = self.rows.get(event.pipeline)
        if row is not None and event.fields.get("seconds_left"):
            row.ends = self.clock() + float(str(event.fields["seconds_left"]))
        if row is not None and "unit" in event.fields:
            row.part = "{unit} {number} of {of}".format(**event.fields)
        if event.name in (*LAST, "done"):
            self.rows.pop(event.pipeline, None)
        if event.name in LAST:
            self.through[event.name] += 1
            if event.name == "failed":
                self.failed.append(f"{event.pipeline} ({event.fields.get('code', 'failed')})")
        return event.name not in _MOVES

    def counted(self, found: Mapping[str, Counts]) -> None:
        """Take in what Spark has counted, by pipeline; what is nobody's is the only pipeline's that is at work."""
        for name, row in self.rows.items():
            row.counts = found.get(name) or (found.get("") if len(self.rows) == 1 else None)

    def lines(self, width: int, bar: tuple[str, str] = ("━", "─"), mark: str = "●") -> list[str]:
        """Return what is shown of it on a terminal.

        Args:
            width: Most characters of a line.
            bar: What a bar's done and open parts are drawn with.
            mark: Stands before each pipeline.
        """
        now, header = self.clock(), self.header()
        found = [cut(header, width)] if header else []
        for name, row in self.rows.items():
            right = clock(now - row.begun)
            left = f"{mark} {name}: {', '.join(part for part in (row.part, row.words) if part)}"
            found.append(f"{cut(left, width - len(right) - 1)} {right}")
            far = _how_far(row, now)
            if row.counts is not None:
                drawn = int(_BAR * row.counts.done / max(1, row.counts.of))
                # On a narrow terminal the number says it alone.
                head = f"  {bar[0] * drawn}{bar[1] * (_BAR - drawn)} " if width > 2 * _BAR + 10 else "  "
                found.append(_fitted(head, far, width))
            elif far:
                found.append(_fitted("  ", far, width))
        return found

    def report(self) -> list[str]:
        """Return one line for each pipeline at work, for a log."""
        now = self.clock()
        return [
            f"{name}: " + ", ".join(part for part in (row.part, row.words, *_how_far(row, now), clock(now - row.begun)) if part)
            for name, row in self.rows.items()
        ]

    def header(self) -> str:
        """Return how many of several pipelines are through, and which failed; empty where there is one alone."""
        if self.total == 1:
            return ""
        words = f"{sum(self.through.values())} of {self.total} pipelines are through"
        kinds = [f"failed: {', '.join(self.failed)}"] if self.failed else []
        kinds += [f"{count} {IN_WORDS.get(name, name)}" for name, count in self.through.items() if name != "failed"]
        return f"{words}: {', '.join(kinds)}" if kinds else words


def _how_far(row: _Row, now: float) -> list[str]:
    """Say how far a pipeline's step is, what matters most first."""
    counts, found = row.counts, []
    if counts is not None:
        found.append(f"{counts.done:,} of {counted(counts.of, counts.unit)}")
    if row.ends is not None:
        found.append(f"{in_words(row.ends - now)} left")
    if counts is not None:
        share = counts.done / max(1, counts.of)
        # What is told of all chunks says more than what can be told of one stage.
        if row.ends is None and _TOLD_FROM_SHARE <= share < 1 and counts.seconds >= _TOLD_FROM_SECONDS:
            found.append(f"stage ends in {in_words(counts.seconds * (1 - share) / share)}")
        found += [f"{counted(counts.rows, 'row')} read"] if counts.rows else []
        found += [size(counts.bytes)] if counts.bytes else []
        found += [counts.doing] if counts.doing else []
    return found


def _fitted(head: str, parts: list[str], width: int) -> str:
    line = head + parts[0]
    for part in parts[1:]:
        if len(line) + 2 + len(part) <= width:
            line += f", {part}"
    return cut(line, width)


def in_words(seconds: float) -> str:
    """Return how long something still takes, as people say it."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def clock(seconds: float) -> str:
    """Return a duration as a stop watch shows it."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cut(text: str, width: int) -> str:
    """Return a text of at most so many characters on one line."""
    line = "".join(one if one.isprintable() else " " for one in text)
    return line if len(line) <= width else line[: max(0, width - 1)].rstrip() + "…"


def size(count: int) -> str:
    """Return a number of bytes as people say it."""
    if count < 1_000_000:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.0f} MB" if count < 1_000_000_000 else f"{count / 1e9:.1f} GB"
