"""What was told of the newest runs, as the pages show it: the process keeps it, and writes it nowhere."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Mapping

from freshet.events.event import Event
from freshet.site.facts import LogLine

# Of a process that stays for months; a run has some dozens of lines of a few hundred bytes.
_MOST_RUNS, _MOST_LINES, _LONGEST = 200, 100, 500


class KeptLog:
    """Listens to the bus, and keeps the lines of the newest runs."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._of_runs: OrderedDict[str, deque[LogLine]] = OrderedDict()

    def __call__(self, event: Event) -> None:
        """Keep an event of a run."""
        if not event.run_id or not event.pipeline:
            return
        line = LogLine(time=event.time, level=event.level, name=event.name, message=event.message[:_LONGEST])
        with self._turn:
            kept = self._of_runs.get(event.run_id)
            if kept is None:
                kept = self._of_runs[event.run_id] = deque(maxlen=_MOST_LINES)
            kept.append(line)
            while len(self._of_runs) > _MOST_RUNS:
                self._of_runs.popitem(last=False)

    def lines(self) -> Mapping[str, tuple[LogLine, ...]]:
        """Return what was told of each run, by the runs' ids."""
        with self._turn:
            return {run_id: tuple(lines) for run_id, lines in self._of_runs.items()}
