"""A Hudi table as another input of a pipeline: all that is asked of it without a JVM."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freshet.hudi.table import StateReader, TableState
from freshet.project.model.pipeline import InputSpec, PipelineSpec, SourceSpec
from freshet.sources.hudi.look.late import position_at, refuse_late, what_is_late
from freshet.sources.hudi.look.lookback import look_back
from freshet.sources.hudi.look.partitions import touched_partitions
from freshet.sources.hudi.look.replaced import refuse_replaced
from freshet.sources.hudi.look.taken_back import refuse_taken_back
from freshet.sources.hudi.look.unreadable import refuse_unreadable
from freshet.sources.hudi.look.versions import deletes_some, is_kept, version_at_end, version_before, version_now
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition, in_hudi
from freshet.sources.hudi.reads import ReadIncrement, ReadLookback, Window
from freshet.sources.hudi.source import HudiSource
from freshet.sources.position import Position
from freshet.sources.protocol import Source


@dataclass(frozen=True)
class HudiInput:
    """A Hudi table beside the main source; see ``freshet.sources.protocol.InputTable``.

    Args:
        spec: The pipeline.
        one: The table, as the pipeline names it.
        table: Its timeline when it was looked at.
    """

    spec: PipelineSpec
    one: InputSpec
    table: TableState

    @property
    def is_empty(self) -> bool:
        """Return True where the table has no commit."""
        return not self.table.commits

    @property
    def partition_by(self) -> tuple[str, ...]:
        """Return the table's partition columns."""
        return self.table.config.partition_by

    def refuse_unreadable(self) -> None:
        """Raise PARTITION_UNREADABLE where Hudi shows the partition columns otherwise than they were written."""
        refuse_unreadable(self._name, self.table)

    def news(self, position: Position | None) -> Window | None:
        """Return the commits after a position where they drive the run, and hold the position against the table."""
        known = self._own(position)
        if self.one.drives:
            # Of a table that the input did not read before, all is news.
            source = SourceSpec(
                table=self.one.table,
                max_commits=self.spec.source.max_commits,
                missing_checkpoint="READ_UPTO_LATEST_COMMIT",
                full_scan_when_expired=self.spec.source.full_scan_when_expired,
                incremental_format="auto",
            )
            return next_window(self._name, self.table, source, known)
        if known is not None:
            refuse_taken_back(self._name, self.table, known.instant)
            refuse_replaced(self._name, self.table, known)
        return None

    def position_after(self, driven: Window | None, before: Position | None) -> HudiPosition:
        """Return a position at the end of what drives the run, or at the newest commit."""
        began = in_hudi(self._name, before) if before and driven and driven.kind != "whole_table" else None
        return position_at(self.table, driven.end_inclusive if driven else self.table.commits[-1].completed, began)

    def read_changes(self, changes: Window, before: Position | None) -> ReadIncrement:
        """Return what reads the commits that drive a run, and the version before them where rows named other keys then."""
        if self._leaves_keys(replace(changes, requested=changes.late)):
            refuse_late(self.spec.name, self.table, changes)
        expired = changes.kind == "whole_table" and before is not None
        wanted = expired or self._leaves_keys(changes)
        # Of a table whose place another one has taken no version is at hand: nobody can tell what its rows had named.
        held = self._own(before)
        then = (version_before(self.spec.name, self.table, changes, held.instant),) if held and wanted else ()
        then = then if not expired or all(is_kept(self.table, version) for version in then) else ()
        return ReadIncrement(
            table=self.one.table,
            window=changes,
            with_deletes=False,
            before=then,
            as_of=version_at_end(self.table, changes.end_inclusive),
            partitions=touched_partitions(self.table, changes),
        )

    def look_back(self, source: Source, window: Window, news: Window | None, read_upto: str) -> ReadLookback:
        """Return the stage that reads the commits within the look-back.

        Only of two Hudi tables the commits' times compare: beside a source of another kind all of the table is read.
        """
        if isinstance(source, HudiSource):
            looked = look_back(self.one, self.table, source.table, window, news, read_upto)
        elif self.is_empty:
            looked = Window(kind="idle", reason="the table has no commit yet")
        else:
            end = self.table.commits[-1].completed
            looked = Window(
                kind="whole_table", end_inclusive=end, reason="all of it, as the main source names no commits' times"
            )
        return ReadLookback(
            view=self.one.name,
            table=self.one.table,
            window=looked,
            partitions=touched_partitions(self.table, looked),
            as_of=version_at_end(self.table, looked.end_inclusive),
        )

    def version_now(self) -> str:
        """Return the time to travel to for all that has completed by now; empty for the latest version."""
        return version_now(self.table)

    def late_words(self, window: Window) -> str:
        """Say which of the window's commits are named in the past."""
        return what_is_late(self.table, window.late) if window.late else ""

    @property
    def _name(self) -> str:
        return f"{self.spec.name}: input {self.one.name}"

    def _own(self, position: Position | None) -> HudiPosition | None:
        known = in_hudi(self._name, position)
        return known if known is not None and known.table == self.one.table.path else None

    def _leaves_keys(self, changes: Window) -> bool:
        """Say whether the window's rows may have named rows of the main source before that they name no longer."""
        if changes.kind != "increment":
            return False
        if deletes_some(self.table, changes):
            return True
        updates = any(self.table.info(i).updates for i in self.table.data_commits if i.requested in changes.requested)
        # A row's key never changes. MERGE_ON_READ counts what it appends to a log as updates, whatever it is.
        return updates and not {column for column, _ in self.one.drives} <= set(self.table.config.record_key)


def find_input(spec: PipelineSpec, one: InputSpec, state: StateReader) -> HudiInput | None:
    """Look at another table that a pipeline reads; None where there is none."""
    table = state.table(one.table)
    return HudiInput(spec, one, table) if table is not None else None
