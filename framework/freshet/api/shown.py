"""What leaves freshet for a caller's own code: errors, events and results without any secret that this process has read."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from freshet.audit.result import AuditResult
from freshet.backfill.run import BackfillResult
from freshet.errors import FreshetError
from freshet.events.bus import Bus
from freshet.events.event import Event, Listener, redacted
from freshet.lineage.listener import Lineage
from freshet.run.result import RunResult
from freshet.secrets import redact, redact_tree

#: A caller's own listener; what it returns does not matter.
OnEvent = Callable[[Event], object]
Error = TypeVar("Error", bound=FreshetError)
_LOG = logging.getLogger("freshet")


def shown_error(error: Error) -> Error:
    """Take secrets out of an error, and its cause off it: a notebook prints both, and keeps them in its file.

    FRESHET_DEBUG=1 keeps the cause's traceback as a note, without secrets.
    """
    cause, error.__cause__ = error.__cause__, None
    error.__suppress_context__ = True
    for name in ("message", "effect", "next_step"):
        setattr(error, name, redact(getattr(error, name)))
    error.details = redact_tree(error.details)
    error.args = tuple(redact_tree(error.args))
    if cause is not None and os.environ.get("FRESHET_DEBUG", "0") not in ("", "0"):
        trace = redact("".join(traceback.format_exception(cause)).rstrip())
        if sys.version_info >= (3, 11):
            error.add_note(trace)
        else:
            print(trace, file=sys.stderr)
    return error


def shown_run(result: RunResult) -> RunResult:
    """Return a run's result without secrets."""
    return replace(
        result,
        error=shown_error(result.error) if result.error else None,
        reason=redact(result.reason),
        checks=tuple(redact_tree(result.checks)),
    )


def shown_backfill(result: BackfillResult) -> BackfillResult:
    """Return a backfill's result without secrets."""
    return replace(result, error=shown_error(result.error) if result.error else None)


def shown_audit(result: AuditResult) -> AuditResult:
    """Return an audit's result without secrets."""
    hide = redact_tree
    examples = (
        replace(one, key=hide(one.key), recompute=hide(one.recompute), target=hide(one.target)) for one in result.examples
    )
    causes = (replace(one, message=redact(one.message)) for one in result.causes)
    return replace(result, examples=tuple(examples), causes=tuple(causes))


def told_safely(on_event: OnEvent | None, lineage: Lineage | None = None) -> Listener:
    """Return a listener that hands events on without secrets, with their run and their time.

    What a caller's own code raises is logged, and harms no run. It hears what follows all the same: it may have failed at one
    kind of event alone, and wait for another.

    Args:
        on_event: The caller's own.
        lineage: Hears the events, too.
    """
    bus = Bus()

    def tell(event: Event, listen: OnEvent) -> None:
        try:
            listen(redacted(event))
        except Exception as error:  # whatever the caller's own code does
            _LOG.warning("on_event failed at '%s' of %s; the run goes on: %r", event.name, event.pipeline, error)

    if on_event is not None:
        bus.subscribe("on_event", lambda event: tell(event, on_event))
    if lineage is not None:
        lineage.follow(bus)
    return bus.tell
