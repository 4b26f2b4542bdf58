"""What the newest records of a pipeline tell of its runs, by as few files as will do: a hundred pipelines are asked at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from freshet.project.model.paths import place_before
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.history import Entry, entry_of
from freshet.run.record_files import AUDITS, RUNS, folder_of, kind_of, names_of, read_file
from freshet.storage.files import storage_for

# Of the newest files: whoever failed more often than this is told so, and not how often.
_LOOKED_AT = 50
_OTHERS = ("backfill", "service")
_FAILED = ("failed", "killed")


@dataclass(frozen=True, kw_only=True)
class LastRuns:
    """The newest runs of a pipeline.

    Args:
        last: The newest one; None where none is recorded.
        worked: The newest one that committed, or failed after it began to work.
        committed: The newest one that committed.
        success: When the newest one ended that committed or had nothing to do, UTC, as Hudi names instants; empty where
            none did.
        failures: How many failed or were killed since then, of the newest ones that are looked at.
        newest_failure: The newest of these.
        others: The newest backfill and the newest table services, by what they are, where one of them failed lately.
    """

    last: Entry | None = None
    worked: Entry | None = None
    committed: Entry | None = None
    success: str = ""
    failures: int = 0
    newest_failure: Entry | None = None
    others: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def begun(self) -> str:
        """Return when the newest one began; empty where none is recorded."""
        return (self.last.last or self.last.begun) if self.last else ""

    @property
    def is_complete(self) -> bool:
        """Return True where no older record can add anything."""
        return self.committed is not None and self.worked is not None and bool(self.success)


def last_runs(spec: PipelineSpec) -> LastRuns:
    """Read a pipeline's newest runs from their records; those that cannot be read are left out.

    Args:
        spec: The pipeline.

    Raises:
        OSError: The store does not answer; so do FreshetErrors of it.
    """
    found = LastRuns()
    others: dict[str, Entry] = {}
    for entry, is_last_failure in _newest_first(spec):
        if entry.what in _OTHERS:
            others.setdefault(entry.what, entry)
        elif not found.is_complete:
            found = _with(found, entry)
        # What is older than the last failure tells nothing more of the others.
        if found.is_complete and is_last_failure:
            break
    return replace(found, others=others)


def _with(found: LastRuns, entry: Entry) -> LastRuns:
    succeeded = entry.outcome in ("committed", "idle")
    committed = entry.outcome == "committed"
    failed = not found.success and not succeeded and _is_failure(entry)
    took = committed or (entry.outcome == "failed" and _began_to_work(entry))
    return LastRuns(
        last=found.last or entry,
        worked=found.worked or (entry if took else None),
        committed=found.committed or (entry if committed else None),
        success=found.success or (_ended(entry) if succeeded else ""),
        failures=found.failures + failed,
        newest_failure=found.newest_failure or (entry if failed else None),
    )


def _newest_first(spec: PipelineSpec) -> Iterator[tuple[Entry, bool]]:
    """Yield what the records tell, each with whether none that is older failed."""
    ref, looked_at = spec.target.ref, 0
    # Runs of before a migration are told beside the table that there was then.
    while ref.path:
        storage, folder = storage_for(ref.path), folder_of(ref, spec.name)
        names = list(reversed(names_of(storage, folder)))[:_LOOKED_AT]
        failed = [name for name in names if kind_of(name) in _FAILED]
        for name in names:
            if looked_at == _LOOKED_AT:
                return
            if kind_of(name) in AUDITS:
                continue
            looked_at += 1
            # It was among the oldest ones and is gone, or is not whole.
            with suppress(FileNotFoundError, ValueError):
                record = read_file(storage, f"{folder}/{name}")
                if record["what"] in (*RUNS, *_OTHERS):
                    yield entry_of(record), not failed or name <= failed[-1]
        ref = replace(ref, path=place_before(ref.path))


def _ended(entry: Entry) -> str:
    return str(entry.more.get("ended") or entry.last or entry.begun)


def _is_failure(entry: Entry) -> bool:
    # One that found its target taken, or was skipped, says nothing of the pipeline.
    return entry.outcome in ("failed", "killed") and _began_to_work(entry)


def _began_to_work(entry: Entry) -> bool:
    return (entry.error or {}).get("code") != "ALREADY_RUNNING"
