"""Progress of a command, as its events tell it: on a terminal or as a log, and to whatever else hears them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import click

from freshet.cli.board import LAST, Board
from freshet.cli.live import logged_progress, region_progress
from freshet.cli.output import Output, message, reporting
from freshet.cli.signals import BEFORE_LAST_WORDS, PUBLISHED, UNFINISHED
from freshet.cli.terminal import are_one_place, can_be_drawn_on
from freshet.errors import unforeseen
from freshet.events.bus import Bus
from freshet.events.event import Event, Listener, teller
from freshet.events.kinds import CommandFailed, Failed, Notice, Phase
from freshet.events.lines import json_lines
from freshet.jvm.java_end import java_ended
from freshet.lineage.listener import Lineage

Command = TypeVar("Command", bound=Callable[..., Any])


@contextmanager
def progress(output: Output | None = None, total: int = 1, lineage: Lineage | None = None) -> Iterator[Listener]:
    """Yield a listener that shows what goes on: a steady region of a terminal, and lines elsewhere.

    Args:
        output: Where the command's result goes. What it will say of a pipeline is not said twice in one place.
        total: How many pipelines were asked for.
        lineage: Hears the events, too.
    """
    board = Board(total)
    result_says_it = output is not None and are_one_place(sys.stdout, sys.stderr)

    def said(event: Event) -> bool:
        if event.name in LAST and result_says_it and not (isinstance(event, Failed) and event.process_ends):
            return False
        if isinstance(event, Notice) and output is not None and output.has_notices and output.is_beside_words:
            output.held_back.append(event.message)
            return False
        if isinstance(event, Failed) and output is not None:
            output.told.add(event.message)
        return True

    bus = Bus()
    bus.subscribe("the note of what is published", _note)
    for name, listener in (output.listeners if output is not None else {}).items():
        bus.subscribe(name, listener)
    with region_progress(board, said) if can_be_drawn_on(sys.stderr) else logged_progress(board, said, message) as show:
        bus.subscribe("the display", lambda event: None if event.for_machines else show(event))
        bus.subscribe("the display's end", _put_away)
        if lineage is not None:
            # Last: it may wait at the end of a run, of which the others have heard by then.
            lineage.follow(bus)
        try:
            yield bus.tell
        except click.ClickException:
            raise
        except Exception as error:
            found = java_ended(error) or unforeseen(error)
            bus.tell(CommandFailed(pipeline="", message=str(found), error=found.as_json()))
            raise
    UNFINISHED.clear()


def _note(event: Event) -> None:
    commits = event.fields.get("commits")
    if isinstance(commits, list):
        PUBLISHED.extend((event.pipeline, commit) for commit in commits)
    if isinstance(event, Phase):
        UNFINISHED[event.pipeline] = event.message
    elif event.name in (*LAST, "done"):
        UNFINISHED.pop(event.pipeline, None)


def _put_away(event: Event) -> None:
    if isinstance(event, Failed) and event.process_ends:
        for put_away in BEFORE_LAST_WORDS:
            put_away()


def phases(listen: Listener, pipeline: str) -> Callable[[str], None]:
    """Return what tells the phases of a pipeline's work, in words."""
    return teller(listen, Phase, pipeline)


def reporting_events(command: Command) -> Command:
    """Wrap a command as ``reporting`` does, and give it ``--events``."""

    @click.option(
        "--events",
        "events_file",
        default=None,
        metavar="FILE",
        help="Append what happens to FILE, one JSON object per event and line; - is stderr.",
    )
    @wraps(command)
    def listened(*, output: Output, events_file: str | None, **arguments: Any) -> Any:
        if events_file is None:
            return command(output=output, **arguments)
        with json_lines(events_file) as listener:
            output.listeners["--events"] = listener
            return command(output=output, **arguments)

    return reporting(cast("Command", listened))
