"""Tables that go on together, from one place of the database's log to the next: ``transactional: true``.

At such a place no transaction is open. A file beside the tables' folders names it, and no pipeline reads further, whoever
starts it. It is moved on when every table holds all up to there, to where the log was captured by then; so while one table is
behind, or may not run, none goes further. Between two such places each table is published in commits of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freshet.errors import FreshetError, RetryableError
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import StateReader
from freshet.ingest.landing import Landing, folder_of
from freshet.ingest.spec import IngestSpec
from freshet.plan.positions import checkpoint_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.result import RunResult, summed
from freshet.sources.files.look.upto import NAME, Upto, read_upto
from freshet.sources.registry import find_source

#: Runs all pipelines that may run until they have nothing left to read.
Run = Callable[[], Sequence[RunResult]]


@dataclass(frozen=True, kw_only=True)
class Together:
    """Where tables are that go on together.

    Args:
        captured: Up to where the log was captured.
        published: Up to where it is published, and is being published.
        tables: By pipeline up to where its table holds it; empty where that is not known, or is between two places.
        commits: By pipeline the request time of its table's newest commit: a reader of all tables as of these sees no
            transaction half, where all are at one place.
        blocked: Pipelines that may not run.
    """

    captured: str
    published: str
    tables: Mapping[str, str]
    commits: Mapping[str, str]
    blocked: tuple[str, ...] = ()

    @property
    def behind(self) -> tuple[str, ...]:
        """Return the pipelines for which the others wait."""
        return self.blocked or tuple(name for name, at in self.tables.items() if at != self.published)

    @property
    def is_whole(self) -> bool:
        """Return True where every table holds all that was captured."""
        return not self.behind and self.published == self.captured

    @property
    def words(self) -> str:
        """Return where they are."""
        if self.is_whole:
            return f"all tables hold {self.published}"
        waits = f"; waiting for {', '.join(self.behind)}" if self.behind else ""
        return f"captured up to {self.captured}, published together up to {self.published or 'nothing'}{waits}"

    def as_json(self) -> dict[str, object]:
        """Return the same for machines."""
        return {
            "captured": self.captured,
            "published": self.published,
            "whole": self.is_whole,
            "tables": dict(self.tables),
            "commits": dict(self.commits),
            "waits_for": list(self.behind),
        }

    def apart(self) -> FreshetError | None:
        """Return TABLES_APART where a table does not hold what was captured; None where all do."""
        if self.is_whole:
            return None
        return RetryableError(
            "TABLES_APART",
            f"{self.words}.",
            "No table goes further before that.",
            "Look at `freshet status` of the ones that are named, and run the same command again.",
            behind=list(self.behind),
        )


def begin(landing: Landing, is_wanted: bool) -> None:
    """Let tables go on together from here on, or each by itself; to be called by whoever holds the folder."""
    if not is_wanted:
        (landing.root / NAME).unlink(missing_ok=True)
    elif read_upto(str(landing.root)) is None:
        # What is in the files already may be read already.
        landing.write(NAME, _settled(landing).as_json())


def publish_together(
    spec: IngestSpec,
    pipelines: Mapping[str, PipelineSpec],
    blocked: Collection[str],
    state: StateReader,
    run: Run,
) -> tuple[tuple[RunResult, ...], Together]:
    """Run the pipelines of an ingest up to the place that they have, and then, if all are there, up to the next one.

    Args:
        spec: The ingest.
        pipelines: By table.
        blocked: Names of those that may not run.
        state: Reads the tables.
        run: Runs those that may.

    Returns:
        What became of each, and where all are in the end.
    """
    has_moved = advance(spec, pipelines, blocked, state)
    results = tuple(run())
    if not has_moved and advance(spec, pipelines, blocked, state):
        # What was behind is there now.
        more = {one.pipeline: one for one in run()}
        results = tuple(summed(one, more[one.pipeline]) if one.pipeline in more else one for one in results)
    return results, where(spec, pipelines, blocked, state)


def advance(spec: IngestSpec, pipelines: Mapping[str, PipelineSpec], blocked: Collection[str], state: StateReader) -> bool:
    """Move on to where the log was captured, where every table holds all up to now, and may run.

    Returns:
        Whether the tables may be read up to where the log was captured.

    Raises:
        RetryableError: INGEST_BUSY.
    """
    landing = Landing(Path(spec.into))
    with landing.held():
        now, upto = _settled(landing), read_upto(spec.into) or Upto()
        if upto.number >= now.number and not set(now.folders) - set(upto.folders):
            return True
        began = {table: one for table, one in pipelines.items() if folder_of(table) in upto.folders}
        if blocked or any(at != upto.position for at, _ in _held(began, state).values()):
            return False
        landing.write(NAME, now.as_json())
        return True


def where(spec: IngestSpec, pipelines: Mapping[str, PipelineSpec], blocked: Collection[str], state: StateReader) -> Together:
    """Return where the tables of an ingest are."""
    record, upto, held = Landing(Path(spec.into)).record(), read_upto(spec.into) or Upto(), _held(pipelines, state)
    return Together(
        captured=record.position if record is not None else "",
        published=upto.position,
        tables={name: at for name, (at, _) in held.items()},
        commits={name: commit for name, (_, commit) in held.items() if commit},
        blocked=tuple(sorted(blocked)),
    )


def _settled(landing: Landing) -> Upto:
    """Return the end of what was captured, once all its files have their names."""
    record = landing.record()
    if record is None:
        return Upto()
    landing.settle(record)
    # A copy that is not whole nobody reads, though its number may be the place itself.
    whole = [folder_of(table) for table, standing in record.tables.items() if standing.done]
    return Upto(position=record.position, number=record.number, folders=whole)


def _held(pipelines: Mapping[str, PipelineSpec], state: StateReader) -> dict[str, tuple[str, str]]:
    """Return by pipeline up to where its table holds the log, and the table's newest commit."""
    state, found = OneLook(state), {}
    for spec in pipelines.values():
        try:
            # The commit first: what is there by then, the position does not lack.
            target = state.table(spec.target.ref)
            newest = max((one.requested for one in target.commits), default="") if target else ""
            checkpoint = checkpoint_of(spec, target) if target else None
            source = find_source(spec, state)
            at = source.lag(checkpoint.main if checkpoint else None).captured if source else ""
        except FreshetError:
            # Its run says what is wrong.
            at, newest = "", ""
        found[spec.name] = (at, newest)
    return found
