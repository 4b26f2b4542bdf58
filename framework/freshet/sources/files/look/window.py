"""Choose the next files to read: pure, from a listing and the pipeline's position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from freshet.errors import StateError
from freshet.project.model.files import FilesSpec
from freshet.sources.files.look.ready import Ready
from freshet.sources.files.look.seen import DAY, Late, in_order, late_among, position_after, sort_out
from freshet.sources.files.position import FilesPosition, iso_of
from freshet.sources.files.reads import File
from freshet.sources.hudi.reads import Window, counted

_SHOWN = 5
_NOTHING = "Nothing was read or written."


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a run reads of the files that there are.

    Args:
        read: The files, in order.
        later: Those that are left for the next run, in order.
        ignored: Those that were read before, were rewritten, and stay as they were read.
        late: Those from before the files that are remembered.
        after: The position behind it.
        words: What else is to be said; empty for nothing.
    """

    read: tuple[File, ...]
    later: tuple[File, ...]
    ignored: tuple[File, ...]
    late: Late
    after: FilesPosition
    words: str


def choose(name: str, spec: FilesSpec, ready: Ready, position: FilesPosition | None, is_whole: bool = False) -> Choice:
    """Choose what is read.

    Args:
        name: The pipeline's name, for messages.
        spec: The pipeline's source.
        ready: The files that there are.
        position: Where the pipeline stands; None for the beginning.
        is_whole: True where all files are read at once, whatever the bounds are.

    Raises:
        StateError: FILES_REWRITTEN or FILES_LATE.
    """
    # HoodieStreamer's says no root.
    before = replace(position or FilesPosition(of=spec.place), of=spec.place)
    found = sort_out(ready.files, before)
    if found.rewritten and spec.rewritten == "fail":
        raise _rewritten(name, found.rewritten)
    late = late_among(found.older, before)
    if late.number and spec.too_late == "fail":
        raise _late(name, spec, late)
    waiting = in_order((*found.new, *found.rewritten)) if spec.rewritten == "read" else found.new
    read, later = (waiting, ()) if is_whole else _bounded(waiting, spec)
    ignored = found.rewritten if spec.rewritten == "ignore" else ()
    after = position_after(
        before,
        read=read,
        rewritten=ignored or tuple(file for file in found.rewritten if file in set(read)),
        unread=(*later, *ready.held),
        standing=ready.files,
        late_ms=1000 * spec.late_seconds,
    )
    after = replace(after, captured="" if later else ready.captured)
    said = [f"{ready.words}, left alone"] if ready.words else []
    if read and not is_whole and read[0].size > spec.max_bytes:
        said.append(f"it is more than a run's {_size(spec.max_bytes)}, and is not cut")
    said += [f"{counted(len(ignored), 'file')} rewritten and not read again: {_named(ignored)}"] if ignored else []
    if late.doubtful:
        said.append(f"files modified on {_days(late.doubtful)} are gone since: one that came late to those would not be seen")
    return Choice(read=read, later=later, ignored=ignored, late=late, after=after, words="; ".join(said))


def window_of(choice: Choice, position: FilesPosition | None) -> Window:
    """Return what is read as a window.

    Args:
        choice: What was chosen.
        position: Where the pipeline stands; None for the beginning.
    """
    since = "since the checkpoint" if position is not None else "from the beginning: no checkpoint yet"
    late = late_in_words(choice.late) if choice.late.number else ""
    said = "".join(f"; {words}" for words in (choice.words, late) if words)
    if not choice.read:
        return Window(kind="idle", end_inclusive=choice.after.text, reason=f"no file {since}{said}", warning=late)
    size = sum(file.size for file in choice.read)
    return Window(
        kind="increment",
        begin_inclusive=iso_of(choice.read[0].modified),
        end_inclusive=iso_of(choice.read[-1].modified),
        waiting_commits=len(choice.later),
        reason=f"{counted(len(choice.read), 'file')} of {_size(size)} {since}{said}",
        warning=late,
    )


def late_in_words(late: Late) -> str:
    """Return what came too late, in words."""
    named = f" ({_named(late.named)})" if late.named else ""
    days = _days(late.days)
    return f"at least {counted(late.number, 'file')}{named} came later than the files that were read, modified on {days}"


def _bounded(waiting: Sequence[File], spec: FilesSpec) -> tuple[tuple[File, ...], tuple[File, ...]]:
    size, number = 0, 0
    for file in waiting[: spec.max_files]:
        # A file that is larger than the bound alone is read alone.
        if number and size + file.size > spec.max_bytes:
            break
        size, number = size + file.size, number + 1
    return tuple(waiting[:number]), tuple(waiting[number:])


def _rewritten(name: str, files: Sequence[File]) -> StateError:
    one = len(files) == 1
    return StateError(
        "FILES_REWRITTEN",
        f"{name}: {counted(len(files), 'file')} {'was' if one else 'were'} read before, and {'has' if one else 'have'} another "
        f"size or time now: {_named(files)}.",
        _NOTHING,
        "Let what is new land under a name of its own. To read such files again, or never: source: {files: {rewritten: read}} "
        "or ignore",
        files=[file.path for file in files[:_SHOWN]],
    )


def _late(name: str, spec: FilesSpec, late: Late) -> StateError:
    return StateError(
        "FILES_LATE",
        f"{name}: {late_in_words(late)}, more than {counted(spec.late_seconds, 'second')} before the newest one.",
        _NOTHING,
        "Give such files a new time, as touch does, or let them land again: they are read then. To go on without them: "
        "source: {files: {too_late: warn}}; to wait longer for others: late",
        files=[file.path for file in late.named[:_SHOWN]],
    )


def _days(days: Sequence[int]) -> str:
    more = f" and {len(days) - _SHOWN} more" if len(days) > _SHOWN else ""
    return ", ".join(iso_of(day * DAY)[:10] for day in days[:_SHOWN]) + more


def _named(files: Iterable[File]) -> str:
    paths = [file.path for file in files]
    return ", ".join(paths[:_SHOWN]) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")


def _size(number: int) -> str:
    value, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.3g} {unit}" if unit != "B" else f"{number} B"
