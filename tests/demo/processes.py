"""The two parts of the story that need a process of their own: a tick that starts no JVM, and a run that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.demo.place import DemoFailed, Place, environment

_PATIENCE_SECONDS = 120.0


def idle_tick(place: Place, arguments: Sequence[str]) -> float:
    """Run a command that finds nothing new.

    Args:
        place: Where it plays.
        arguments: The command's.

    Returns:
        Seconds of wall time, the start of Python included.

    Raises:
        DemoFailed: It failed, or started a JVM.
    """
    trace = _trace(place)
    place.announce(arguments)
    start = time.monotonic()
    ended = subprocess.run([sys.executable, "-m", "freshet", *arguments], env=_traced(trace), check=False)
    seconds = time.monotonic() - start
    if ended.returncode:
        raise DemoFailed(f"the idle tick ended with exit code {ended.returncode}.")
    if trace.exists():
        raise DemoFailed("the idle tick started a JVM.")
    return seconds


def killed_run(place: Place, pipeline: str, table: str) -> None:
    """Start a run and kill it, its JVM too, while it writes and before it commits.

    Raises:
        DemoFailed: It ended or committed before it could be killed, or never began to write.
    """
    trace, arguments = _trace(place), place.arguments("run", pipeline)
    log = place.folder / "killed.log"
    timeline = Path(place.path(table)) / ".hoodie" / "timeline"
    begun, commits = set(timeline.glob("*.inflight")), place.state(table).commits
    place.announce(arguments)
    with open(log, "w", encoding="utf-8") as out:
        # In a group of its own, so that Python and its JVM die at once, as they do when the machine goes down.
        process = subprocess.Popen(
            [sys.executable, "-m", "freshet", *arguments],
            env=_traced(trace),
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while set(timeline.glob("*.inflight")) <= begun:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise DemoFailed(f"the run that was to be killed never wrote: {log.read_text(encoding='utf-8')}")
                time.sleep(0.005)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    # A JVM says on stderr that it was told to leave a trace.
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if "JDK_JAVA_OPTIONS" not in line]
    place.say("\n".join([*lines, "Killed (SIGKILL)"]))
    if not trace.exists():
        raise DemoFailed("a JVM that ran left no trace, so that an idle tick's JVM could not be told either.")
    if place.state(table).commits != commits:
        raise DemoFailed("the run committed before it was killed. Run the demo again.")


def _trace(place: Place) -> Path:
    trace = place.folder / "jvm.trace"
    trace.unlink(missing_ok=True)
    return trace


def _traced(trace: Path) -> dict[str, str]:
    # Whatever `java` is started by whatever way writes this file before it does anything else.
    options = f"{os.environ.get('JDK_JAVA_OPTIONS', '')} -Xlog:gc:file={trace}".strip()
    return environment(JDK_JAVA_OPTIONS=options)
