"""Send OpenLineage events beside the runs that they tell of: in order, in bounded time, and without harm to any run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

from freshet.credentials import without_credentials
from freshet.errors import foreign_text
from freshet.secrets import redact

#: Makes an event and sends it; raises what keeps it from that.
Job = Callable[[], None]
# One that does not answer would let each of a hundred pipelines wait for it.
_PAUSE_SECONDS = 60.0
# One that says at once that it does not take events costs nothing to ask again.
_AT_ONCE_SECONDS = 1.0
_MISSING = "openlineage-python is not there: pip install 'freshet[lineage]'"


class Worker:
    """Does what it is given in one thread, which ends with the process where it does not end itself."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._begun = threading.Lock()
        self._thread: threading.Thread | None = None

    def give(self, job: Callable[[], None]) -> threading.Event:
        """Have something done after all that was given before; returns what is set when it is over.

        Args:
            job: Raises nothing.
        """
        over = threading.Event()

        def do() -> None:
            try:
                job()
            finally:
                over.set()

        self._jobs.put(do)
        with self._begun:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="lineage", daemon=True)
                self._thread.start()
        return over

    def _work(self) -> None:
        while True:
            self._jobs.get()()


class Sending:
    """Does jobs of sending, and says of each failure why, once for each reason.

    Args:
        tell: Told the pipeline and in words why its event was not sent.
        clock: Seconds that only rise.
    """

    def __init__(self, tell: Callable[[str, str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock, self._worker = tell, clock, Worker()
        self._said: set[str] = set()
        self._resumes = 0.0
        # One that never ends holds up all that come after it.
        self._left_alone = False

    def send(self, pipeline: str, job: Job) -> threading.Event:
        """Have an event sent after those before it.

        Args:
            pipeline: The pipeline, for words.
            job: Makes and sends it.

        Returns:
            What is set when it is sent, or given up.
        """
        return self._worker.give(lambda: self._try(pipeline, job))

    def wait(self, pipeline: str, over: threading.Event, seconds: float) -> None:
        """Wait until an event is sent, for so long at most.

        Args:
            pipeline: The pipeline, for words.
            over: What ``send`` has returned.
            seconds: How long.
        """
        if self._left_alone and not over.is_set():
            # Who has not answered within all this time keeps no other run waiting.
            return
        self._left_alone = not over.wait(seconds)
        if self._left_alone:
            self._say(pipeline, f"nothing was heard for {seconds:.0f} s")

    def _try(self, pipeline: str, job: Job) -> None:
        begun = self._clock()
        if begun < self._resumes:
            return
        try:
            job()
        except ModuleNotFoundError as error:
            self._say(pipeline, _MISSING if (error.name or "").startswith("openlineage") else foreign_text(error))
        except Exception as error:  # whatever it is, the run goes on
            if self._clock() - begun > _AT_ONCE_SECONDS:
                self._resumes = self._clock() + _PAUSE_SECONDS
            self._say(pipeline, foreign_text(error))

    def _say(self, pipeline: str, why: str) -> None:
        words = without_credentials(redact(why))
        if words not in self._said:
            self._said.add(words)
            self._tell(pipeline, words)
