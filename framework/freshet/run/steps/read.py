"""Handlers of the stages that read."""

from __future__ import annotations

from freshet.hudi.checkpoint import MAIN
from freshet.plan.bootstrap import ReadBackup
from freshet.plan.row_stages import AdaptEvents
from freshet.run.steps.work import Work
from freshet.sources.changelog.backup import read_backup
from freshet.sources.changelog.events import read_events
from freshet.sources.hudi.read.inputs import read_partitions
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadPartitions, counted
from freshet.sources.readers import READERS


def read_main(work: Work, stage: ReadIncrement) -> None:
    """Read the window of the main source, or the backup that its table is loaded from first."""
    if isinstance(stage, ReadBackup):
        work.source, work.aside = read_backup(work.spark, stage)
        work.view(MAIN, work.source)
        return
    reader = READERS[work.spec.source.kind]
    work.source, work.aside = reader.read(work.spark, stage)
    work.view(MAIN, work.source.drop(*reader.identity))


def adapt_events(work: Work, stage: AdaptEvents) -> None:
    """Make events of what was read."""
    work.phase("making events of what was read")
    unread = work.aside
    found = read_events(stage, work.batch, work.spec.name)
    work.events, work.aside, work.event_times = found.read, found.aside, found.event_times
    if unread is not None and (number := unread.count()):
        # What could not be read at all, such as a whole file, stands for an event each.
        work.events = found.read.with_unread(number)
        work.aside = unread if found.aside is None else found.aside.unionByName(unread)
    work.view(MAIN, found.rows)


def add_driven(work: Work, stage: DriveRows) -> None:
    """Add the main source's rows of the keys that another input has changed."""
    assert work.source is not None, "the plan reads the main source first"
    reader = READERS[work.spec.source.kind]
    work.source = reader.drive(work.spark, stage, work.source)
    work.view(MAIN, work.source.drop(*reader.identity))


def read_needed_partitions(work: Work, stage: ReadPartitions) -> None:
    """Read the partitions of another input that the batch needs."""
    rows, names = read_partitions(work.spark, stage, work.batch)
    work.view(stage.view, rows)
    work.phase(f"reading {counted(len(names), 'partition')} of {stage.table.name} as {stage.view}")
