"""Which partitions of a target hold rows of an older logic than the pipeline's files have now. Pure.

A partition counts as renewed where all of its rows were computed by the present logic: it came into being since, a full load or
a chunk of a backfill wrote it, or a run overwrote it. What a commit does not tell is not known, and said so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from freshet.errors import FreshetError
from freshet.hudi.checkpoint import LOGIC_KEY, ORIGIN_KEY, PIPELINE_KEY
from freshet.hudi.table import CommitInfo, Instant, TableState
from freshet.plan.logic_record import SEVERAL, UNKNOWN, LogicRecord, Standing, decode_record, encode_record
from freshet.plan.stages import Commit
from freshet.project.model.logic import Logic, digest_of, digests_by_name
from freshet.project.model.pipeline import PipelineSpec

_SERVICES = ("COMPACT", "LOG_COMPACT", "CLUSTER")
# Rows as they are, in another form.
_MOVED = "index"
# After one of these a table holds what it wrote, and nothing else.
_FIRST = ("whole_table", "start_at_latest", "override")


@dataclass(frozen=True)
class Known:
    """What a target's commits tell of its logic.

    Args:
        standing: By which logic its rows were made.
        parts: Digests of the parts of the last commit's logic, by name; empty where they are not at hand.
    """

    standing: Standing
    parts: dict[str, str]


def with_logic(
    commit: Commit,
    spec: PipelineSpec,
    target: TableState | None,
    logic: Logic | None = None,
    *,
    computes: bool = True,
    whole: bool = False,
    renews: tuple[str, ...] = (),
    ranged: bool = False,
) -> Commit:
    """Return a commit that says by which logic its rows are made.

    Args:
        commit: The commit.
        spec: The pipeline.
        target: The target's state; None before its first run.
        logic: What makes the rows; the pipeline's own where nothing is said.
        computes: False where its rows are none, or of another time.
        whole, renews, ranged: See ``LogicRecord``.
    """
    made_by = spec.logic if logic is None else logic
    if not made_by:
        return commit
    standing = Standing()
    if target is not None:
        try:
            found = known_logic(spec, target, search=True)
            standing = found.standing if found else standing
        except FreshetError:
            # A history that cannot be read keeps nobody from writing.
            standing = Standing(held=None, whole=False)
    base = target.commits[-1].completed if target is not None and target.commits else ""
    digest, parts = (digest_of(made_by), digests_by_name(made_by)) if computes and not commit.empty else ("", {})
    record = LogicRecord(digest=digest, base=base, standing=standing, parts=parts, whole=whole, renews=renews, ranged=ranged)
    return replace(commit, metadata=dict(sorted({**commit.metadata, LOGIC_KEY: encode_record(record)}.items())))


def known_logic(spec: PipelineSpec, target: TableState, search: bool = False) -> Known | None:
    """Return what the target's commits tell of its logic.

    Args:
        spec: The pipeline.
        target: The target's state.
        search: Go through its whole history where no commit tells, as of a table of before there were records: once, because
            the next commit tells then. Without, that is not known, and answered at once.
    """
    newest: list[tuple[Instant, CommitInfo]] = []
    record: LogicRecord | None = None
    for instant in reversed(target.commits):
        if record is not None and instant.completed <= record.base:
            break
        info = target.info(instant)
        newest.append((instant, info))
        if record is None and (found := _record_of(spec, info)) is not None:
            record = found
        if _replaces_all(spec, info):
            break
    else:
        if record is not None:
            newest += sorted(_archived(target, record.base), key=lambda pair: pair[0], reverse=True)
    if record is None:
        if not search:
            return None
        newest = list(target.newest_first())
        first = newest[-1][1] if newest else CommitInfo()
        standing = Standing(held={}, whole=first.extra.get(ORIGIN_KEY) in _FIRST)
    else:
        standing = record.standing
    parts: dict[str, str] = {}
    for instant, info in reversed(newest):
        standing, parts = _after(spec, target, standing, parts, instant, info)
    return Known(standing, parts)


def _record_of(spec: PipelineSpec, info: CommitInfo) -> LogicRecord | None:
    own = info.extra.get(PIPELINE_KEY) == spec.name
    return decode_record(info.extra[LOGIC_KEY]) if own and LOGIC_KEY in info.extra else None


def _replaces_all(spec: PipelineSpec, info: CommitInfo) -> bool:
    record = _record_of(spec, info) if info.operation == "INSERT_OVERWRITE_TABLE" else None
    return record is not None and bool(record.digest)


def _after(
    spec: PipelineSpec,
    target: TableState,
    before: Standing,
    parts: dict[str, str],
    instant: Instant,
    info: CommitInfo,
) -> tuple[Standing, dict[str, str]]:
    """Return what stands after a commit."""
    if not _makes_rows(spec, info):
        return before, parts
    record = _record_of(spec, info)
    digest = record.digest if record is not None else UNKNOWN
    if record is not None and digest:
        changed = before.at if before.digest not in ("", digest) else before.before
        before, parts = replace(before, digest=digest, at=instant.completed, before=changed), dict(record.parts)
    if before.held is None and not _replaces_all(spec, info):
        return before, parts
    if info.operation == "DELETE_PARTITION":
        left = {path: one for path, one in (before.held or {}).items() if path not in info.partitions}
        return replace(before, held=left), parts
    if _replaces_all(spec, info):
        return replace(before, held=dict.fromkeys(info.partitions, digest), whole=True), parts
    held = dict(before.held or {})
    for path in info.partitions:
        # One that nobody named before is new, unless the history may have forgotten it.
        stood = held.get(path, digest if before.whole else UNKNOWN)
        ranged = record is not None and record.ranged and stood != digest
        held[path] = UNKNOWN if ranged else _both(stood, digest)
    if record is not None and digest:
        renewed = {path for path in held if _is_of(path, record.renews)} | set(info.partitions if record.whole else ())
        # What others wrote there meanwhile is not of what this one read.
        for path in renewed:
            held[path] = digest
        for other in _meanwhile(spec, target, record.base, instant.completed) if renewed else ():
            theirs = _record_of(spec, other)
            for path in renewed & set(other.partitions):
                held[path] = _both(held[path], theirs.digest if theirs is not None else UNKNOWN)
    return replace(before, held=held), parts


def _makes_rows(spec: PipelineSpec, info: CommitInfo) -> bool:
    service = info.operation in _SERVICES or info.extra.get(ORIGIN_KEY) == _MOVED
    return not service and info.extra.get(PIPELINE_KEY) not in spec.co_writers


def _meanwhile(spec: PipelineSpec, target: TableState, base: str, completed: str) -> Iterator[CommitInfo]:
    pairs = [(instant, target.info(instant)) for instant in target.commits_between(begin_exclusive=base)]
    for instant, info in (*pairs, *_archived(target, base)):
        if instant.completed < completed and _makes_rows(spec, info):
            yield info


def _archived(target: TableState, base: str) -> Sequence[tuple[Instant, CommitInfo]]:
    if target.commits and target.commits[0].completed <= base:
        return ()
    return target.load_archived(base, frozenset(instant.requested for instant in target.commits))


def _both(one: str, other: str) -> str:
    return one if one == other else UNKNOWN if UNKNOWN in (one, other) else SEVERAL


def _is_of(path: str, values: tuple[str, ...]) -> bool:
    return not {part.rpartition("=")[2] for part in path.split("/")}.isdisjoint(values)
