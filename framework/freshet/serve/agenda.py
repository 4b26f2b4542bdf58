"""What is looked at and what runs next: due times, turns, pauses after failures. Pure: the caller says what time it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from freshet.serve.entry import Ended, Entry
from freshet.serve.moment import Moment
from freshet.serve.served import Served

#: Looks that go on at a time: none of them starts Spark.
LOOKS = 2
# A clock is set by more than this; what is less is how exactly two clocks can be read.
_JUMP_SECONDS = 60.0
# The wall's clock may be set at any time, and is asked so often.
_LONGEST_WAIT = 5.0


@dataclass(frozen=True)
class Start:
    """What begins now.

    Args:
        name: The pipeline.
        what: ``look``: whether there is something new; ``run``: read and publish it.
    """

    name: str
    what: Literal["look", "run"]


class Agenda:
    """The pipelines that are served, and whose turn it is.

    A pipeline that is due waits for its turn: the one that has been due for longest is first. It is looked at, and runs where
    there is something new. Of what is due at one moment the upstream goes first, whatever becomes of it.

    Args:
        parallel: How many may run at a time.
        now: The time.
    """

    def __init__(self, parallel: int, now: Moment) -> None:
        self.parallel = parallel
        #: False where nothing is to begin: the process ends.
        self.is_open = True
        #: False where no run is to begin, though looks go on: Spark is started anew.
        self.runs_allowed = True
        #: What a step in a gap must not have in common with a run: such runs wait for its end.
        self.held: frozenset[str] = frozenset()
        self._entries: dict[str, Entry] = {}
        self._gone: set[str] = set()
        self._last = now

    def load(self, served: Sequence[Served], due: Collection[str], changed: Collection[str], now: Moment) -> None:
        """Take over what a project says; what goes on goes on.

        Args:
            served: Its pipelines, upstream before downstream.
            due: Those that are due at once.
            changed: Those whose files have changed: what failed before may not fail now, and is tried at once.
            now: The time.
        """
        before, self._entries = self._entries, {}
        for index, one in enumerate(served):
            entry = self._entries[one.name] = before.pop(one.name) if one.name in before else Entry(one, index)
            entry.take_over(one, index, now)
            is_mended = one.name in changed and entry.failures > 0
            if is_mended:
                entry.failures, entry.not_before = 0, 0.0
            if is_mended or one.name in due:
                entry.make_due(now)
        # What is at work and gone from the files ends by itself.
        at_work = {name: entry for name, entry in before.items() if entry.phase in ("looking", "running")}
        self._entries |= at_work
        self._gone = set(at_work)

    def tick(self, now: Moment) -> float:
        """Make due what is; returns by how many seconds the wall's clock was set since the last call, where that is much.

        Args:
            now: The time.
        """
        jump, self._last = now.jumped_since(self._last), now
        if jump < -_JUMP_SECONDS:
            # Times of before are to come again, and what was planned lies far ahead.
            for entry in self._entries.values():
                entry.plan_again(now)
        for entry in self._entries.values():
            entry.tick(now)
        return jump if abs(jump) > _JUMP_SECONDS else 0.0

    def starts(self, now: Moment) -> list[Start]:
        """Return what begins now, and note that it does.

        Args:
            now: The time.
        """
        return list(self._starts(now)) if self.is_open else []

    def _starts(self, now: Moment) -> Iterator[Start]:
        working = [entry for entry in self._entries.values() if entry.phase in ("looking", "running")]
        looks = sum(entry.phase == "looking" for entry in working)
        runs = [entry for entry in working if entry.phase == "running"]
        for entry in self._in_turn():
            if entry.phase == "resting" and looks < LOOKS and entry.may_start(now) and not any(self._awaited(entry, now)):
                looks += 1
                entry.begin("looking", now)
                yield Start(entry.served.name, "look")
            elif entry.phase == "ready" and self.runs_allowed and len(runs) < self.parallel and not self._is_held(entry, runs):
                runs.append(entry)
                entry.begin("running", now)
                yield Start(entry.served.name, "run")

    def _is_held(self, entry: Entry, runs: list[Entry]) -> bool:
        return entry.meets(runs) or bool(entry.served.apart & self.held)

    def has_gap(self, name: str, apart: Collection[str], now: Moment, is_patient: bool) -> bool:
        """Say whether a step of something else may begin for a pipeline's target.

        Args:
            name: The pipeline; one that is paused has no gap, nor has one that is served no longer.
            apart: What the step must not have in common with a run at the same time.
            now: The time.
            is_patient: True where it waits for ticks: until no run waits for a place, and neither the pipeline nor one that it
                must not meet is due or at work. False where it waits for runs alone that it must not meet.
        """
        entry = self._entries.get(name)
        if not (self.is_open and self.runs_allowed) or entry is None or entry.paused or name in self._gone:
            return False
        met = [one for one in self._entries.values() if one.served.apart & set(apart)]
        if not is_patient:
            return all(one.phase != "running" for one in met)
        if any(one.phase == "ready" for one in self._entries.values()):
            return False
        return not any(one.phase != "resting" or one.may_start(now) for one in (entry, *met))

    def _in_turn(self) -> list[Entry]:
        due = [entry for name, entry in self._entries.items() if entry.due is not None and name not in self._gone]
        return sorted(due, key=lambda entry: (entry.due, entry.index))

    def _awaited(self, entry: Entry, now: Moment) -> Iterator[str]:
        for name in entry.served.upstream:
            other = self._entries.get(name)
            if other is None or other.due is None or entry.due is None or other.due > entry.due:
                continue
            # One that is paused, or rests after a failure, is not waited for.
            if other.phase != "resting" or other.may_start(now):
                yield name

    def looked(self, name: str, ended: Ended | None, now: Moment) -> None:
        """Note what a look found.

        Args:
            name: The pipeline.
            ended: Why it does not run; None where it does.
            now: The time.
        """
        entry = self._entries[name]
        if ended is not None:
            self._end(entry, ended, now)
        elif entry.paused or name in self._gone:
            self._end(entry, Ended(outcome="idle"), now)
        else:
            entry.phase = "ready"

    def ran(self, name: str, ended: Ended, now: Moment) -> None:
        """Note how a run ended; its commit makes those due that follow it.

        Args:
            name: The pipeline.
            ended: How it ended.
            now: The time.
        """
        self._end(self._entries[name], ended, now)
        if ended.outcome == "committed":
            self.upstream_committed(name, now)

    def _end(self, entry: Entry, ended: Ended, now: Moment) -> None:
        entry.end(ended, now)
        if entry.served.name in self._gone:
            del self._entries[entry.served.name]

    def upstream_committed(self, name: str, now: Moment) -> None:
        """Make those due that follow a pipeline, because its target has a new commit."""
        for entry in self._entries.values():
            if entry.served.kind == "follows" and name in entry.served.upstream:
                entry.make_due(now)

    def call(self, name: str, now: Moment) -> None:
        """Make a pipeline due, whatever failed before."""
        entry = self._entries[name]
        entry.asked = True
        entry.make_due(now)

    def pause(self, name: str, paused: bool, now: Moment) -> None:
        """Let a pipeline rest until it is resumed; a run that goes on goes on. Resumed, it is looked at.

        Args:
            name: The pipeline.
            paused: False to resume it.
            now: The time.
        """
        entry = self._entries[name]
        if paused and not entry.paused:
            entry.paused, entry.again, entry.asked = True, False, False
            if entry.phase in ("resting", "ready"):
                entry.phase, entry.due = "resting", None
        elif not paused and entry.paused:
            entry.paused = False
            entry.make_due(now)

    @property
    def at_work(self) -> tuple[str, ...]:
        """Return the pipelines that are looked at or run now."""
        return tuple(name for name, entry in self._entries.items() if entry.phase in ("looking", "running"))

    @property
    def running(self) -> tuple[str, ...]:
        """Return the pipelines that run now."""
        return tuple(name for name, entry in self._entries.items() if entry.phase == "running")

    def wait(self, now: Moment) -> float:
        """Return for how many seconds nothing can begin by itself."""
        times = [_LONGEST_WAIT]
        for entry in self._entries.values():
            times += [at - now.wall for at in (entry.next_wall,) if at is not None]
            times += [at - now.steady for at in (entry.next_steady,) if at is not None and entry.phase == "resting"]
            if entry.due is not None and entry.not_before > now.steady:
                times.append(entry.not_before - now.steady)
        return max(0.0, min(times))

    def shown(self, now: Moment) -> dict[str, dict[str, Any]]:
        """Return each pipeline as a JSON-serialisable mapping, by its name."""
        return {
            name: {**entry.shown(now), "after": list(self._awaited(entry, now)) if entry.phase == "resting" else []}
            for name, entry in self._entries.items()
            if name not in self._gone
        }
