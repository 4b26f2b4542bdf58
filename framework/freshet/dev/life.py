"""How a server that freshet starts begins and ends; a kind of server says what it runs, and when it serves."""

from __future__ import annotations

import shlex
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from freshet.dev.kept import Place, delete_files, end_of_log, hold_directory, read_json, unreadable, write_state
from freshet.dev.process import Ended, end_process, start_mark
from freshet.errors import FreshetError

Tell = Callable[[str], None]

_POLL_SECONDS = 0.1
_BUSY_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class State:
    """What is known of each server whether it runs or not.

    Args:
        port: The port of its clients, kept from the first start on.
        pid: Id of its last process; 0 where there was none.
        mark: That process's ``start_mark``.
    """

    port: int
    pid: int = 0
    mark: str = ""


class Found(Protocol):
    """A server as it was found."""

    @property
    def state(self) -> str:
        """``up``, ``starting`` for a process that does not serve yet, or ``down``."""


S = TypeVar("S", bound=State)
F = TypeVar("F", bound=Found)


def is_alive(kept: State) -> bool:
    """Say whether the process of the state runs, and not another one with its id."""
    return bool(kept.mark) and start_mark(kept.pid) == kept.mark


def read_state(place: Place, of: type[S]) -> S | None:
    """Read the state of a kind of server; None where there is none.

    Raises:
        FreshetError: That it cannot be read.
    """
    content = read_json(place)
    try:
        return None if content is None else of(**content)
    except TypeError as error:
        raise unreadable(place, str(error)) from error


class Life(ABC, Generic[S, F]):
    """One server, in its directory.

    Args:
        place: Its files.
        kept_as: What its state is kept as.
    """

    #: What asks its process to end in order.
    ends_by = signal.SIGTERM

    def __init__(self, place: Place, kept_as: type[S]) -> None:
        self.place = place
        self._kept_as = kept_as

    # --- what a kind of server says of itself -----------------------------------------------------------------------------

    @abstractmethod
    def look_at(self, kept: S | None) -> F:
        """Look at it, without starting or changing anything."""

    @abstractmethod
    def words_of(self, state: S) -> Sequence[str]:
        """Return what follows the command that runs it."""

    @abstractmethod
    def prepare(self, state: S, command: Sequence[str], log: int) -> None:
        """Write what it reads when it starts; what that says goes to the log."""

    def poll(self, state: S) -> None:
        """Do what helps one that has not served since it was started just now."""

    def served(self, state: S) -> S:
        """Return what is known of one that was seen to serve."""
        return state

    # --- what is the same for each ----------------------------------------------------------------------------------------

    def start(
        self,
        command: Sequence[str],
        next_state: Callable[[S | None], S],
        wait_seconds: float,
        tell: Tell,
        refuse: Callable[[S], None] = lambda kept: None,
    ) -> F:
        """Start it and wait until it serves; one that runs already is returned as it is.

        Args:
            command: What runs it.
            next_state: What it is started with, after what it was.
            wait_seconds: How long it may take.
            tell: Told in words what takes time.
            refuse: Raises where the one that runs is not as it is asked for.

        Raises:
            RetryableError: That another command starts or stops it.
            FreshetError: That it did not start, or its directory cannot be used.
        """
        with hold_directory(self.place, wait_seconds, tell):
            kept = read_state(self.place, self._kept_as)
            if kept is not None and is_alive(kept):
                refuse(kept)
                found = self._wait_until_up(kept, wait_seconds, fresh=False)
                if found.state == "up":
                    tell("it was up already")
                    return found
            return self._launch(next_state(kept), command, wait_seconds)

    def stop(self, purge: bool, tell: Tell) -> tuple[F, Ended]:
        """Stop it; its data stay unless they are to be deleted.

        Args:
            purge: Delete its data, log and ports too.
            tell: Told in words what takes time.

        Returns:
            What it was, and how it ended.

        Raises:
            RetryableError: That another command starts or stops it.
            FreshetError: That its state cannot be read.
        """
        # A directory without a state is not freshet's: nothing may be locked or deleted there.
        if read_state(self.place, self._kept_as) is None:
            return self.look_at(None), "gone"
        with hold_directory(self.place, _BUSY_SECONDS, tell):
            kept = read_state(self.place, self._kept_as)
            found = self.look_at(kept)
            ended = end_process(kept.pid, kept.mark, by=self.ends_by) if kept else "gone"
            if kept and purge:
                delete_files(self.place)
            return found, ended

    def running(self, words: str) -> FreshetError:
        """Return the error of one that runs otherwise than it is asked for."""
        return FreshetError(
            self.place.server.running,
            f"the {self.place.server.name} in {self.place.directory} runs {words}.",
            "It runs on as it was.",
            f"Stop it first: {self._down()}",
        )

    def not_started(self, why: str, stopped: bool = True) -> FreshetError:
        """Return the error of one that did not start, with the end of its log."""
        place = self.place
        return FreshetError(
            place.server.not_started,
            f"the {place.server.name} in {place.directory}: {why}. The end of {place.log}:{end_of_log(place)}\n",
            "Nothing runs; the data are as they were." if stopped else "Its process still runs.",
            f"Read the log; give it longer by --wait, or begin anew: {self._down()} --purge",
            log=str(place.log),
            directory=str(place.directory),
        )

    def _launch(self, state: S, command: Sequence[str], wait_seconds: float) -> F:
        # The state first: what follows is then known to be freshet's.
        state = replace(state, pid=0, mark="")
        write_state(self.place, state)
        for said_before in self.place.logs:
            said_before.unlink()
        with open(self.place.log, "ab") as log:
            self.prepare(state, command, log.fileno())
            # A session of its own: the keyboard's interrupt and the terminal's end are not for it.
            process = subprocess.Popen(
                [*command, *self.words_of(state)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.place.directory,
                start_new_session=True,
            )
        started = replace(state, pid=process.pid, mark=start_mark(process.pid) or "")
        try:
            write_state(self.place, started)
            return self._wait_until_up(started, wait_seconds, fresh=True)
        except BaseException:
            end_process(started.pid, started.mark, by=self.ends_by)
            process.wait()
            raise

    def _wait_until_up(self, state: S, wait_seconds: float, fresh: bool) -> F:
        deadline = time.monotonic() + wait_seconds
        while (found := self.look_at(state)).state != "up":
            if found.state == "down":
                if not fresh:
                    return found  # killed just now: it is started again
                raise self.not_started("it ended")
            if time.monotonic() >= deadline:
                raise self.not_started(f"it did not serve within {wait_seconds:g} s", stopped=fresh)
            if fresh:
                self.poll(state)
            time.sleep(_POLL_SECONDS)
        if (served := self.served(state)) != state:
            write_state(self.place, served)
        return found

    def _down(self) -> str:
        return f"freshet dev {self.place.server.short} down --dir {shlex.quote(str(self.place.directory))}"
