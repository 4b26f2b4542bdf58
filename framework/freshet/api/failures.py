"""How a call of the API fails: with the code and the words that the command would end with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from freshet.api.shown import shown_error
from freshet.backfill.run import BackfillResult
from freshet.errors import FreshetError, unforeseen
from freshet.jvm.java_end import java_ended


class ChunksFailed(FreshetError):
    """A backfill has ended, and some of its chunks failed.

    Args:
        result: What became of it.
    """

    def __init__(self, result: BackfillResult) -> None:
        self.result = result
        failed = ", ".join(f"{label}: {code}" for label, code in result.failed.items())
        super().__init__(
            "CHUNKS_FAILED",
            f"{result.pipeline}: {len(result.failed)} of {result.chunks} chunks failed: {failed}.",
            "The other chunks are published.",
            'To do these again: the same call with reprocess="failed".',
            failed=result.failed,
        )


@contextmanager
def as_the_command() -> Iterator[None]:
    """Give every error the code and the words that the command would end with."""
    try:
        yield
    except Exception as error:  # whatever it is, it ends with a code
        raise shown_error(java_ended(error) or unforeseen(error)) from None
