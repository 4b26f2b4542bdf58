"""Choose the next window of the main source: pure, from its timeline and the pipeline's position."""

from __future__ import annotations

from freshet.errors import StateError
from freshet.hudi.table import Instant, TableState
from freshet.project.model.pipeline import SourceSpec
from freshet.sources.hudi.look.late import completion_of, late_archived, late_commits
from freshet.sources.hudi.look.logged import in_logs
from freshet.sources.hudi.look.replaced import refuse_replaced
from freshet.sources.hudi.look.taken_back import refuse_known_taken_back, refuse_taken_back
from freshet.sources.hudi.look.unreadable import refuse_unreadable
from freshet.sources.hudi.look.whole_files import in_whole_files
from freshet.sources.hudi.position import NONE_KNOWN, HudiPosition
from freshet.sources.hudi.reads import Window, counted

_NOT_SHOWN = " What stands there for '...' or '${env.NAME}' is not kept, and may be what differs."


def next_window(
    name: str,
    source: TableState,
    spec: SourceSpec,
    position: HudiPosition | None,
    seen: HudiPosition | None = None,
) -> Window:
    """Choose what the next run reads.

    Args:
        name: The pipeline's name, for messages.
        source: The source's timeline now.
        spec: The pipeline's source settings.
        position: Where the pipeline stands; None where its target carries no checkpoint.
        seen: How far it had read, where its position has been set back from there, or reset.

    Returns:
        A window of whole commits, at most ``spec.max_commits`` of them, or as many as had been read before.

    Raises:
        StateError: PARTITION_UNREADABLE, NO_META_FIELDS, NO_CHECKPOINT, CHECKPOINT_OF_ANOTHER_TABLE, SOURCE_RESTORED,
            SOURCE_ROLLED_BACK, SOURCE_REPLACED, CHECKPOINT_AHEAD or CHECKPOINT_EXPIRED.
    """
    refuse_unreadable(name, source)
    if not source.config.meta_fields:
        raise StateError(
            "NO_META_FIELDS",
            f"{name}: the rows of {spec.table.path} do not say which commit wrote them "
            "(hoodie.populate.meta.fields=false), so that it cannot be read incrementally.",
            "Nothing was read or written.",
            "Make the table with hoodie.populate.meta.fields=true; as another input it can be read as a snapshot.",
        )
    if seen is not None and seen != position:
        refuse_known_taken_back(name, source, seen)
    if position is None:
        return _first_window(name, source, spec)
    if position.table and position.table != spec.table.path:
        raise StateError(
            "CHECKPOINT_OF_ANOTHER_TABLE",
            f"{name}: the checkpoint belongs to {position.table}, and the pipeline reads {spec.table.path}."
            + (_NOT_SHOWN if position.digest else ""),
            "Nothing was read or written.",
            f"If the table only moved: freshet checkpoint set {name} {position.instant}; "
            f"where another one took its place: freshet run {name} --full-refresh",
            checkpoint_table=position.table,
            source=spec.table.path,
        )
    read_upto = completion_of(name, source, position)
    if position.known == NONE_KNOWN:
        refuse_taken_back(name, source, read_upto)
    refuse_replaced(name, source, position)
    late = late_commits(source, position, read_upto)
    waiting = (*late, *source.commits_between(begin_exclusive=read_upto))
    lost = lost_since(source, read_upto, waiting, position)
    if lost:
        if not spec.full_scan_when_expired:
            raise _expired(name, spec, read_upto, lost)
        return _whole_table(
            source,
            f"the checkpoint {read_upto} is older than the source's history: "
            "hoodie.datasource.read.incr.fallback.fulltablescan.enable is set",
        )
    if not waiting:
        # HoodieStreamer may have stopped at a table service's commit, so those count here.
        newest = source.commits[-1].completed if source.commits else read_upto
        # What was requested first is archived first, even where it completed last.
        if newest < read_upto and not source.archived(read_upto[:-1]):
            raise StateError(
                "CHECKPOINT_AHEAD",
                f"{name}: the checkpoint {read_upto} is newer than the source's last commit {newest}: "
                f"{spec.table.path} was restored to an earlier time, or replaced.",
                "Nothing was read or written.",
                f"To go on from the source's present end: freshet checkpoint set {name} {newest}",
                checkpoint=read_upto,
                newest=newest,
            )
        return Window(kind="idle", end_inclusive=read_upto, reason="no commit since the checkpoint")
    # What is read again ends no earlier than it did before: the target holds rows that were deleted since.
    passed_on = source.config.records_changes and spec.incremental_format != "latest_state"
    return _increment(source, waiting, len(late), spec.max_commits, read_upto, seen.instant if passed_on and seen else "")


def horizon(source: TableState) -> str:
    """Return the completion time of the oldest commit that can still be read incrementally; empty where there is none."""
    readable = [i for i in source.data_commits if not is_cleaned(source, i)]
    return readable[0].completed if readable else ""


def _first_window(name: str, source: TableState, spec: SourceSpec) -> Window:
    if spec.missing_checkpoint == "ERROR":
        raise StateError(
            "NO_CHECKPOINT",
            f"{name}: the target carries no checkpoint, and the pipeline does not say where to begin.",
            "Nothing was read or written.",
            "Add to the YAML's hoodie: hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: "
            "READ_UPTO_LATEST_COMMIT (the whole table first) or READ_LATEST (only what comes from now on)",
        )
    if not source.commits:
        return Window(kind="idle", reason="the source has no commit yet")
    if spec.missing_checkpoint == "READ_UPTO_LATEST_COMMIT":
        return _whole_table(source, "no checkpoint yet: READ_UPTO_LATEST_COMMIT")
    newest = _newest(source)
    return Window(kind="start_at_latest", end_inclusive=newest.completed, reason="no checkpoint yet: READ_LATEST")


def _whole_table(source: TableState, reason: str) -> Window:
    newest = _newest(source)
    return Window(kind="whole_table", end_inclusive=newest.completed, requested=(newest.requested,), reason=reason)


def _newest(source: TableState) -> Instant:
    # Where all that brought rows is archived, a table service's commit stands for it: it holds the same rows.
    return (source.data_commits or source.commits)[-1]


def _increment(
    source: TableState,
    waiting: tuple[Instant, ...],
    late: int,
    max_commits: int,
    read_upto: str,
    at_least: str,
) -> Window:
    # Two writers may complete in the same millisecond, and a position between the two cannot be told. Those that are late are
    # read together: the next position knows all that there are up to it.
    end = max(waiting[:max_commits][-1].completed, read_upto, at_least)
    taken = tuple(i for i in waiting if i.completed <= end)
    left = waiting[len(taken) :]
    infos = [source.info(i) for i in taken]
    return Window(
        kind="increment",
        begin_inclusive=taken[0].completed,
        end_inclusive=max(taken[-1].completed, read_upto),
        requested=tuple(i.requested for i in taken),
        rows=sum(i.rows for i in infos),
        whole_files=in_whole_files(source, taken),
        logs=in_logs(source, taken),
        unseen_deletes=sum(i.deletes for i in infos),
        waiting_commits=len(left),
        waiting_rows=sum(source.info(i).rows for i in left),
        reason=f"{counted(len(taken), 'commit')} since the checkpoint"
        + (f", {late} of them named by times before it" if late else ""),
        late=tuple(i.requested for i in taken[:late]),
    )


def lost_since(source: TableState, read_upto: str, waiting: tuple[Instant, ...], position: HudiPosition | None = None) -> str:
    """Return the completion time of a commit after the checkpoint that can no longer be read; empty where there is none."""
    cleaned = [i.completed for i in waiting if is_cleaned(source, i)]
    # Commits are archived in the order of their requests: a long one may go unread while others that completed before it
    # stay. So only an idle tick, which moves nothing, leaves the archive closed.
    if waiting or not source.commits or source.commits[0].completed > read_upto:
        cleaned += [i.completed for i in late_archived(source, position or HudiPosition(instant=read_upto), read_upto)]
    return min(cleaned, default="")


def is_cleaned(source: TableState, instant: Instant) -> bool:
    """Say whether the cleaner has gone past a commit, so that its rows can no longer be read by themselves."""
    kept = source.retained_from
    # A trailing "+" means: what follows that time (see timeline._retained_from).
    return bool(kept) and (instant.requested <= kept[:-1] if kept.endswith("+") else instant.requested < kept)


def _expired(name: str, spec: SourceSpec, read_upto: str, lost: str) -> StateError:
    return StateError(
        "CHECKPOINT_EXPIRED",
        f"{name}: the checkpoint is {read_upto}, and {spec.table.path} has already cleaned or archived a commit that was "
        f"not read ({lost}), so an incremental read would leave a gap.",
        "Nothing was read or written.",
        "To read the whole table once: freshet checkpoint reset " + name + " with READ_UPTO_LATEST_COMMIT; to always do so: "
        "hoodie.datasource.read.incr.fallback.fulltablescan.enable: true; to prevent it, raise hoodie.clean.commits.retained "
        "and hoodie.keep.min.commits of the source.",
        checkpoint=read_upto,
        first_lost=lost,
    )
