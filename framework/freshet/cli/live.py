"""Progress of a command: one steady region of a terminal, and elsewhere a line when something begins, or every half minute."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from freshet.cli.board import IN_WORDS, LAST, Board
from freshet.cli.signals import BEFORE_LAST_WORDS
from freshet.cli.terminal import for_eyes
from freshet.events.event import Event, Listener
from freshet.jvm.ivy import jar_counts
from freshet.jvm.spark_counts import Counts, spark_counts
from freshet.secrets import redact

_DRAWN_SECONDS = 0.2
# Spark is asked at every so many drawings: an answer costs both sides some milliseconds.
_ASKED_EVERY = 3
#: Without a word for so long, a log gets a line that says how far it is.
SILENT_SECONDS = 30.0
# A log is told of each jar that is fetched, when it is looked for.
_LOOKED_SECONDS = 1.0
# A JVM that hangs must not hold up who has ended.
_LONGEST_WAIT = 1.0


@contextmanager
def region_progress(board: Board, told: Callable[[Event], bool]) -> Iterator[Listener]:
    """Yield a listener that draws on stderr, a terminal, until the block ends.

    Args:
        board: What goes on.
        told: Says whether an event's words are printed, above the region.
    """
    # rich takes a tenth of a second to import, and an idle tick needs none of it.
    from freshet.cli.region import Region, printing_above

    terminal = sys.stderr
    turn, ended = threading.Lock(), threading.Event()

    def lines(width: int, bar: tuple[str, str], mark: str) -> list[str]:
        with turn:
            return [redact(line) for line in board.lines(width, bar, mark)]

    region = Region(terminal, lines)

    def listen(event: Event) -> None:
        with turn:
            words = board.heard(event) and told(event)
        if words:
            region.above(terminal, for_eyes(redact(f"{event.pipeline}: {event.message}"), terminal) + "\n")
        else:
            region.draw()

    def follow() -> None:
        drawn = 0
        while not ended.wait(_DRAWN_SECONDS):
            drawn += 1
            found = _counts(board) if drawn % _ASKED_EVERY == 0 else None
            with turn:
                if found is not None:
                    board.counted(found)
            region.draw()

    def put_away() -> None:
        region.close(_LONGEST_WAIT)

    before = printing_above(region)
    follower = threading.Thread(target=follow, name="progress", daemon=True)
    follower.start()
    BEFORE_LAST_WORDS.append(put_away)
    try:
        yield listen
    finally:
        ended.set()
        BEFORE_LAST_WORDS.remove(put_away)
        sys.stdout, sys.stderr = before
        region.close()
        follower.join(_LONGEST_WAIT)


@contextmanager
def logged_progress(board: Board, told: Callable[[Event], bool], say: Callable[[str], None]) -> Iterator[Listener]:
    """Yield a listener that prints a line for each event, and for each pipeline at work where nothing was printed for long.

    Args:
        board: What goes on.
        told: Says whether an event's words are printed.
        say: Prints a line.
    """
    turn, ended = threading.Lock(), threading.Event()
    last = time.monotonic()

    def printed(words: str) -> None:
        nonlocal last
        last = time.monotonic()
        say(f"{time.strftime('%H:%M:%SZ', time.gmtime())} {words}")

    def listen(event: Event) -> None:
        with turn:
            board.heard(event)
            part = "{unit} {number} of {of}: ".format(**event.fields) if "unit" in event.fields else ""
            if not told(event):
                # The result says it; of several pipelines a log says when each was through.
                if event.name in LAST and board.total > 1:
                    printed(f"{event.pipeline}: {IN_WORDS.get(event.name, event.name)}. {board.header()}")
            elif event.name != "done":
                printed(f"{event.pipeline}: {part}{event.message}")

    def report() -> None:
        fetched = ""
        while not ended.wait(min(_LOOKED_SECONDS, max(0.05, last + SILENT_SECONDS - time.monotonic()))):
            jars = jar_counts()
            if jars is not None and jars.doing and jars.doing != fetched:
                fetched = jars.doing
                with turn:
                    printed(f"fetching jar {jars.done + 1} of {jars.of}: {fetched}")
            if time.monotonic() < last + SILENT_SECONDS:
                continue
            found = _counts(board)
            with turn:
                board.counted(found)
                for words in board.report():
                    printed(words)

    threading.Thread(target=report, name="progress", daemon=True).start()
    try:
        yield listen
    finally:
        ended.set()


def _counts(board: Board) -> dict[str, Counts]:
    # Without its jars Spark does not start: who is at work waits for them.
    jars = jar_counts()
    return dict.fromkeys(list(board.rows), jars) if jars is not None else spark_counts()
