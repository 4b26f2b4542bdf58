"""Choose the versions of a table that an increment is the difference of. Pure.

A version of a table is what the commits that had completed by then made of it, and Hudi's time travel goes by request time: a
version "at" a moment shows whatever was requested before, also what completed later.
"""

from __future__ import annotations

from dataclasses import replace

from freshet.errors import RetryableError, StateError
from freshet.hudi.checkpoint import Checkpoint
from freshet.hudi.table import Instant, TableState
from freshet.sources.hudi.look.late import completion_of, refuse_late
from freshet.sources.hudi.position import in_hudi
from freshet.sources.hudi.reads import NEVER, Version, Window


def versions_held(name: str, source: TableState, window: Window, before: Checkpoint) -> tuple[Version, ...]:
    """Return the versions that the target may hold rows of that the source has deleted since, the newest first.

    Args:
        name: The pipeline's name, for messages.
        source: The main source.
        window: What is read of it.
        before: The target's checkpoint.

    Returns:
        None where nothing was deleted, or where the checkpoint was reset by hand and nobody can tell any more what was.

    Raises:
        StateError: VERSION_CLEANED or COMMIT_IN_THE_PAST.
    """
    main, furthest = in_hudi(name, before.main), in_hudi(name, before.furthest(source.ref.path))
    if window.kind == "whole_table":
        upto = furthest.instant if furthest else completion_of(name, source, main) if main else ""
        found = [version_at(source, upto)] if upto else []
        kept = tuple(version for version in found if is_kept(source, version))
        if main is not None and not kept:
            raise _unknown_deletes(name, source, upto)
        return kept
    if main is None or not deletes_some(source, window):
        return ()
    if deletes_some(source, replace(window, requested=window.late)):
        refuse_late(name, source, window)
    read_upto = completion_of(name, source, main)
    # Where the position was set back, the target is as it was before that.
    further = [furthest.instant] if furthest and furthest.instant > read_upto else []
    return tuple(version_before(name, source, window, instant) for instant in (*further, read_upto))


def version_before(name: str, source: TableState, window: Window, read_upto: str) -> Version:
    """Return a version of a table that holds the rows as they stood before a window.

    Args:
        name: The pipeline's name, for messages.
        source: The table.
        window: What was chosen to be read of it; without commits of its own, all that there is stood before.
        read_upto: Completion time of the last commit read before.

    Returns:
        A version that no commit is seen in that completed later. Rows that such a commit and one that overtook it have both
        deleted may be in it still.

    Raises:
        StateError: VERSION_CLEANED: the cleaner has kept what the window needs, but no version before it.
        RetryableError: SOURCE_COMMIT_PENDING.
    """
    found = version_at(source, read_upto)
    kept = source.retained_from
    if window.kind == "increment" and not is_kept(source, found):
        raise StateError(
            "VERSION_CLEANED",
            f"{source.ref.name}: its rows as they stood at {read_upto}, before what is new, are needed to tell what was "
            f"deleted or changed, and its cleaner has kept only what follows {kept}.",
            "Nothing was read or written.",
            f"freshet checkpoint reset {name}, with READ_UPTO_LATEST_COMMIT, reads all again; to prevent it, raise "
            "hoodie.clean.commits.retained of the table above the commits between two runs.",
            version=found.as_of,
            retained_from=kept,
        )
    return found


def version_at(source: TableState, read_upto: str) -> Version:
    """Return the version that the commits made which had completed by a time.

    Raises:
        RetryableError: SOURCE_COMMIT_PENDING: a commit that began before one of these has not completed.
    """
    # Hudi refuses to travel to a time after the request of a commit that has not completed.
    pending = min(source.pending, default="9")
    end = min([pending, *(i.requested for i in source.data_commits if i.completed > read_upto)])
    # Of a table service too: it moved the same rows, and the files that it replaced may be cleaned by now.
    times = [read_upto, *(time for i in source.commits for time in (i.requested, i.completed))]
    as_of = max((time for time in times if time < end and _is_time(time)), default=NEVER)
    if all(i.requested > as_of for i in source.commits):
        # What is that old is archived; or nothing was there yet, which is no version that Hudi travels to.
        archived = [i for i, _ in source.load_archived("")]
        if as_of == NEVER or not archived:
            as_of = max((i.requested for i in archived if i.completed <= read_upto and i.requested < end), default=NEVER)
    overtakers = sorted(i.requested for i in source.data_commits if i.completed <= read_upto and i.requested > as_of)
    if overtakers and overtakers[-1] >= pending:
        raise RetryableError(
            "SOURCE_COMMIT_PENDING",
            f"{source.ref.name}: the commit requested at {pending} has not completed, and others that began later have been "
            "read: until it completes, or is rolled back, nothing shows the rows as they stood before what is new.",
            "Nothing was read or written.",
            "Run the same command again when that writer has ended.",
            pending=pending,
        )
    return Version(as_of, tuple(overtakers))


def _unknown_deletes(name: str, source: TableState, read_upto: str) -> StateError:
    # The target's rows do not tell either which rows of the source they were made of.
    return StateError(
        "VERSION_CLEANED",
        f"{name}: the checkpoint {read_upto} has expired, and {source.ref.name} has cleaned its rows as they stood then: rows "
        "that it has deleted since cannot be told, and a read of the whole source would leave them in the target for ever.",
        "Nothing was read or written.",
        f"To have them gone: freshet run {name} --full-refresh. To let them stay: "
        f"freshet checkpoint reset {name}, with READ_UPTO_LATEST_COMMIT, reads the whole source; or take no deletes "
        "from it, by hoodie.datasource.query.incremental.format: latest_state.",
        checkpoint=read_upto,
        retained_from=source.retained_from,
    )


def is_kept(source: TableState, version: Version) -> bool:
    """Say whether the cleaner has left a version whole, as far as the cleans tell."""
    kept = source.retained_from
    if not kept.endswith("+"):
        # So Hudi refuses time travel: by the earliest commit that a clean has retained. One by file versions names none.
        return version.as_of >= kept
    newest: dict[str, str] = {}
    for instant, info in source.newest_first():
        for group in (*info.file_ids, *info.replaced_ids) if instant.requested <= version.as_of else ():
            newest[group] = max(newest.get(group, ""), instant.requested)
    return all(instant > version.as_of or newest.get(group, "") > instant for group, instant in source.load_cleaned())


def refuse_cleaned(name: str, source: TableState, version: Version) -> None:
    """Refuse to read rows of a version of the main source that the cleaner has not left whole: a retry would choose the same.

    Args:
        name: The pipeline's name, for messages.
        source: The main source.
        version: The version at the window's end; empty for the latest, which no clean touches.

    Raises:
        StateError: VERSION_CLEANED.
    """
    if version.as_of and not is_kept(source, version):
        raise StateError(
            "VERSION_CLEANED",
            f"{name}: the rows of {source.ref.name} that an input drives are needed as they stood at {version.as_of}, where "
            "this run's window ends, and its cleaner has deleted files of that version.",
            "Nothing was read or written.",
            "Let one run read up to the newest commit: raise hoodie.streamer.source.hoodieincr.num_instants; to prevent it, "
            "let the table keep commits and not file versions (hoodie.cleaner.policy=KEEP_LATEST_COMMITS).",
            version=version.as_of,
            retained_from=source.retained_from,
        )


def deletes_some(source: TableState, window: Window) -> bool:
    """Say whether the window's commits may have deleted rows, a row's move to another partition included."""
    taken = [i for i in source.data_commits if i.requested in window.requested]
    # What a payload of the table's own makes of the rows in a log shows when they are read.
    open_ended = source.config.own_merge and source.config.table_type == "MERGE_ON_READ"
    return bool(taken) and (open_ended or any(i.action == "replacecommit" or source.info(i).deletes for i in taken))


def version_at_end(source: TableState, end_inclusive: str) -> str:
    """Return the time to travel to for a window's end.

    Args:
        source: The table.
        end_inclusive: Completion time of the window's last commit.

    Returns:
        A time that all commits that had completed by then are seen at, and of the later ones only those that these overtook;
        empty for now, where no such time can be travelled to, or the table got another schema since: an older version has the
        columns that the table had then. What later commits wrote comes with these.
    """
    upto = [i for i in source.commits if i.completed <= end_inclusive]
    if upto and (source.has_schema_history() or _schema(source, upto[-1]) != _schema(source, source.commits[-1])):
        return ""
    inside = max((i.requested for i in source.data_commits if i.completed <= end_inclusive), default=end_inclusive)
    later = [i.requested for i in source.data_commits if i.completed > end_inclusive and i.requested > inside]
    end = min([*later, *source.pending], default="9")
    times = (inside, end_inclusive, *(i.completed for i in source.commits))
    return max((time for time in times if inside <= time < end and _is_time(time)), default="")


def version_now(table: TableState | None) -> str:
    """Return the time to travel to for all that has completed by now; empty as ``version_at_end`` says."""
    return version_at_end(table, table.commits[-1].completed) if table is not None and table.commits else ""


def _is_time(instant: str) -> bool:
    # HoodieStreamer writes "000" for the beginning of all time; Hudi 1.0.2 takes whole instants, with or without milliseconds.
    return len(instant) in (14, 17)


def _schema(source: TableState, instant: Instant) -> str:
    return source.info(instant).extra.get("schema", "")
