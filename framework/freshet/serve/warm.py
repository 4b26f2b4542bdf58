"""The one Spark session of the process: when it is ended, so that the next run starts another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from freshet.errors import FreshetError
from freshet.jvm.ending import end_session, is_gone, is_up, jvm_process
from freshet.serve.memory import memory_limit, memory_of

# The rest is for Python's workers, the system's cache and what else the machine does.
_SHARE = 0.75
_ENDED = "its JVM has ended"


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What the process and its JVM use.

    Args:
        python, jvm: Bytes; None where there is no such process, or the system does not tell.
    """

    python: int | None
    jvm: int | None

    @property
    def total(self) -> int:
        """Return both together."""
        return (self.python or 0) + (self.jvm or 0)


def memory_now() -> Memory:
    """Return what the process and its JVM use now."""
    process = jvm_process() if is_up() else None
    return Memory(python=memory_of(None), jvm=memory_of(process.pid) if process is not None else None)


def most_memory(given: int | None) -> int | None:
    """Return how many bytes may be used: those given, else a share of what there is; None where nobody knows.

    Args:
        given: As the command line says.
    """
    found = memory_limit()
    return given if given is not None else int(found * _SHARE) if found is not None else None


class Warm:
    """Watches over the session; runs end before it is ended.

    Args:
        most: How many bytes the process and its JVM may use; None for no limit.
        memory: Looks at them.
        end: Ends the session.
        gone: Says whether its JVM has ended by itself.
    """

    def __init__(
        self,
        most: int | None,
        memory: Callable[[], Memory] = memory_now,
        end: Callable[[], None] = end_session,
        gone: Callable[[], bool] = is_gone,
    ) -> None:
        self._most, self._memory, self._end, self._gone = most, memory, end, gone
        self.recycled = self.runs = 0
        self._why = ""

    @property
    def is_ending(self) -> bool:
        """Say whether the session is to be ended, and no run may begin in it."""
        if not self._why and self._gone():
            # Between two runs, as by the system where memory runs out: the next one must not find the remains.
            self._why = _ENDED
        return bool(self._why)

    def ran(self, error: FreshetError | None) -> None:
        """Note that a run has ended.

        Args:
            error: Why it failed. Of a JVM that is gone no other run must find the remains.
        """
        self.runs += 1
        if error is not None and error.code == "JAVA_ENDED":
            self._why = _ENDED
        used = self._memory()
        if self._most is not None and used.total > self._most and used.jvm is not None:
            self._why = f"it uses {_mib(used.jvm)}, with Python {_mib(used.total)}, and may use {_mib(self._most)}"

    def end(self) -> str:
        """End the session, which may take half a minute; nothing may run in it. Returns why, in words."""
        why, self._why = self._why, ""
        self._end()
        self.recycled += 1
        self.runs = 0
        return why

    def shown(self) -> dict[str, Any]:
        """Return it as a JSON-serialisable mapping."""
        used = self._memory()
        return {
            "up": used.jvm is not None,
            "runs": self.runs,
            "recycled": self.recycled,
            "python_bytes": used.python,
            "jvm_bytes": used.jvm,
            "most_bytes": self._most,
        }


def _mib(number: int) -> str:
    return f"{number / 1024**2:,.0f} MiB"
