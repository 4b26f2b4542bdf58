"""What a signal finds before and after a command: loaded before all else, so that it imports what every Python has loaded."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from types import FrameType

#: Signals that stop a command: what a shell reports, and what sent it in words.
SIGNALS: dict[int, tuple[int, str]] = {
    signal.SIGINT: (130, "the keyboard"),
    signal.SIGTERM: (143, "SIGTERM"),
    signal.SIGHUP: (129, "SIGHUP"),
}
_BEFORE = ("Nothing was read or written.", "Run the same command again.")
_AFTER = ("The command had ended; what it said above holds.", "`freshet status` shows where the tables stand.")


class _Standing:
    # The process does nothing but one command.
    watched = False
    # What has been printed by then is the only document.
    over = False


def watch() -> None:
    """Answer the signals from now on; for a process that does nothing but this command."""
    # Python looks through all objects after each 700 new ones, and a command makes some hundred thousand before it begins.
    gc.set_threshold(100_000, 20, 20)
    _Standing.watched = True
    for number in stopping():
        signal.signal(number, _answer)


def imported() -> None:
    """Note that what a command needs is imported: it stays until the process ends, and no collection looks through it again."""
    if _Standing.watched:
        # The last collection, at Python's end, takes a tenth of an idle tick otherwise.
        gc.freeze()


def over() -> None:
    """Note that a command has run: what it printed stays the only document."""
    _Standing.over = True


def stopping() -> list[int]:
    """Return the signals that stop a command; SIGHUP not where nohup has it ignored."""
    return [number for number in SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]


def wants_json(words: Sequence[str]) -> bool:
    """Say whether a command line asks for JSON, whatever else is wrong with it."""
    return "--output=json" in words or ("--output", "json") in pairwise(words)


def _answer(number: int, _: FrameType | None) -> None:
    # Half of a module may be imported: nothing is imported, unwound or flushed.
    code, by = SIGNALS[number]
    effect, advice = _AFTER if _Standing.over else _BEFORE
    has_document = wants_json(sys.argv) and not _Standing.over
    if not (has_document and _are_read_together()):
        _say(2, f"INTERRUPTED: stopped by {by}. {effect} {advice}\n")
    if has_document:
        _say(
            1,
            f'{{"error": {{"code": "INTERRUPTED", "message": "stopped by {by}.", "effect": "{effect}", "next": "{advice}", '
            '"retryable": false, "details": {"published": [], "unfinished": []}}}\n',
        )
    os._exit(code)


def _are_read_together() -> bool:
    try:
        return (os.isatty(1) and os.isatty(2)) or os.path.samestat(os.fstat(1), os.fstat(2))
    except OSError:
        return False


def _say(where: int, text: str) -> None:
    try:
        os.write(where, text.encode())
    except OSError:
        # Nobody reads it any longer.
        return
