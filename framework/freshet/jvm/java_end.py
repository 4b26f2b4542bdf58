"""A JVM that has ended under a run: one error that says how, whatever the steps that needed it raise."""

from __future__ import annotations

import signal
import sys
from typing import Any

from freshet.errors import FreshetError, RetryableError
from freshet.jvm.log import last_lines

# It may take a moment until the system knows that a process whose connection broke has ended.
_SECONDS = 2.0
_LONGEST_LOG = 400


def java_ended(error: BaseException, doing: str = "") -> FreshetError | None:
    """Return the error of a JVM that is gone; None where it runs, or never did.

    Args:
        error: What a step raised.
        doing: The pipeline that it happened to, where it is known.
    """
    process = _jvm()
    if process is None or (process.poll() is None and not _lost(error)):
        return None
    try:
        code = process.wait(_SECONDS)
    except Exception:  # it lives, whatever became of the connection
        return None
    how = f"by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
    why = " The system ends the largest process where memory runs out." if code == -signal.SIGKILL else ""
    log = last_lines(process.pid)
    words = f"the JVM ended {how}.{why}" + (f" Its log ends: {_cut_front(' | '.join(log), _LONGEST_LOG)}" if log else "")
    found = RetryableError(
        "JAVA_ENDED",
        f"{doing}: {words}" if doing else words,
        "A commit that was being made is either whole, with its checkpoint, or not there.",
        "Run the same command again; FRESHET_JVM_LOG=warn in front of it shows more.",
        exit=code,
        log=log,
    )
    found.__cause__ = error
    return found


def _cut_front(text: str, most: int) -> str:
    return text if len(text) <= most else "… " + text[2 - most :].lstrip()


def _jvm() -> Any:
    # Nothing is imported for it: where PySpark is not loaded there is no JVM.
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return getattr(getattr(context, "_gateway", None), "proc", None)


def _lost(error: BaseException) -> bool:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ConnectionError) or type(seen).__name__ in ("Py4JNetworkError", "Py4JError"):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
