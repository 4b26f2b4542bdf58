"""One bus: whoever does something tells it, and it tells all who listen. A listener that fails harms no run."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from dataclasses import replace

from freshet.events.event import Event, Listener
from freshet.events.kinds import RunStarted
from freshet.secrets import redact

_LOG = logging.getLogger("freshet")


class Bus:
    """Passes events on to listeners, in the order in which these subscribed.

    Several threads may tell it something at a time, so that a listener is called by several, too.

    Args:
        run_id: Of what no run has begun for: the command's own.
    """

    def __init__(self, run_id: str = "") -> None:
        self.run_id = run_id or new_run_id()
        self._listeners: dict[str, Listener] = {}
        self._runs: dict[str, str] = {}
        self._turn = threading.Lock()

    def subscribe(self, name: str, listener: Listener) -> None:
        """Have a listener told of everything from now on.

        Args:
            name: What it is called where it fails.
            listener: What it raises is logged once, and it hears no more. KeyboardInterrupt and SystemExit pass.
        """
        with self._turn:
            self._listeners[name] = listener

    def tell(self, event: Event) -> None:
        """Pass an event on, with its time and its run."""
        with self._turn:
            if isinstance(event, RunStarted) and event.run_id:
                self._runs[event.pipeline] = event.run_id
            run_id = event.run_id or self._runs.get(event.pipeline, self.run_id)
            listeners = tuple(self._listeners.items())
        event = replace(event, run_id=run_id, time=event.time or time.time())
        for name, listener in listeners:
            try:
                listener(event)
            except Exception as error:  # whatever it is, the run goes on
                self._leave_out(name, event, error)

    def _leave_out(self, name: str, event: Event, error: Exception) -> None:
        with self._turn:
            known = self._listeners.pop(name, None)
        if known is not None:
            words = redact(f"{type(error).__name__}: {error}")
            told = f"{name} failed at '{event.name}' of {event.pipeline}, and hears no more"
            _LOG.warning("%s; the run goes on: %s", told, words)


def new_run_id() -> str:
    """Return a name for a run that no other has: its time, UTC, and random digits."""
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + "-" + uuid.uuid4().hex[:8]
