"""What a writer asks of an index that needs a server, and how it is found.

The index's own modules are imported where a pipeline has one, and nowhere else: a run without one imports none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from freshet.hudi.table import StateReader
from freshet.project.model.pipeline import PipelineSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: By the index's type: what opens it.
_OPENS = {"HBASE": "freshet.index.hbase.opening"}


class OpenedIndex(Protocol):
    """An index that may be written through."""

    def options(self, planned: Mapping[str, str]) -> dict[str, str]:
        """Return Hudi's options that keep a commit to what it may ask of the server.

        Args:
            planned: The commit's own options.
        """
        ...

    def rates(self) -> dict[str, str]:
        """Return Hudi's options that keep a table service to what it may ask of the server."""
        ...

    def metadata(self) -> dict[str, str]:
        """Return what a commit says of the index that it was written through."""
        ...


def open_index(
    spark: SparkSession,
    spec: PipelineSpec,
    state: StateReader,
    phase: Callable[[str], None],
    follows: bool = False,
) -> OpenedIndex | None:
    """Open the index of a pipeline's target; None where it has none that needs a server.

    Args:
        spark: The session.
        spec: The pipeline.
        state: Reader of the tables.
        phase: Told what goes on.
        follows: True where the index is made after the commit.

    Raises:
        StateError: What a run through its index is refused for.
        RetryableError: The server does not answer.
    """
    if spec.index.type not in _OPENS:
        return None
    found: OpenedIndex = import_module(_OPENS[spec.index.type]).open_index(spark, spec, spec.index.hbase, state, phase, follows)
    return found


def make_index_after_load(**work: Any) -> None:
    """Make a target's index of the rows that a full refresh has loaded.

    Args:
        **work: See ``freshet.index.ops.work.Work``.
    """
    import_module("freshet.index.ops.make").index_after_load(import_module("freshet.index.ops.work").Work(**work))
