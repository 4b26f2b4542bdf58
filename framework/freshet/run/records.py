"""What became of each run, in a small file beside its table: idle and failed ones leave no commit that would tell it.

One file a run, ``.freshet/<table>.runs/<pipeline>/<begin>-<random>.<kind>.json``, also in an object store, where nothing can be
appended to. Whoever looks for failures, or for a time, reads only the files whose names say so. Runs that were idle, or found
the target taken, one after the other, are one file with their count.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from typing import Any

from freshet.errors import unforeseen
from freshet.lease.local import CHUNK
from freshet.project.model.pipeline import TableRef
from freshet.run.kept import first_line, kept
from freshet.run.record_files import AUDITS, folder_of, kind_of, names_of, read_file
from freshet.run.result import RunResult
from freshet.run.totals import count
from freshet.storage.files import Storage, is_local, storage_for

VERSION = 1
#: So many files of a pipeline are kept, the newest ones, and the last audit's.
KEPT = 1000
# What runs in this process, by its table, pipeline, kind and begin.
_BEGUN: list[tuple[TableRef, str, str, str]] = []
#: Kinds of files that tell a failure.
FAILURES = ("failed", "busy", "killed", "skipped")
_FOLDED = ("idle", "busy", "skipped")
# Of a store that is far away or does not answer no run waits longer.
_PATIENCE_SECONDS = 3.0
# A call that finds many files too many, as after a change of KEPT, leaves the rest to the next ones.
_REMOVED_AT_ONCE = 20


def now() -> str:
    """Return the time, UTC, as Hudi names instants."""
    return datetime.now(timezone.utc).strftime("%Y%m%d%H%M%S%f")[:17]


@contextmanager
def remembered(target: TableRef, pipeline: str, what: str) -> Iterator[dict[str, Any]]:
    """Record what becomes of a block; that it cannot be recorded never fails it.

    Args:
        target: The table that is written.
        pipeline: Whose run it is.
        what: ``run``, ``full refresh``, ``checkpoint``, ``replay``, ``backfill``, ``service``, ``migrate`` or ``audit``.

    Yields:
        A mapping for what is to be told: see ``of_run``. What the block raises is told without it.
    """
    begun, told = now(), dict[str, Any]()
    block = (target, pipeline, what, begun)
    _BEGUN.append(block)
    try:
        yield told
    except BaseException as error:
        told |= {"outcome": "failed", "error": error_of(error)}
        raise
    finally:
        _BEGUN.remove(block)
        write_record(target, pipeline, {"what": what, "begun": begun, "ended": now(), **told})


def tell_stopped(by: str) -> None:
    """Record that whatever runs in this process is stopped, for one that ends where it stands.

    Args:
        by: What stopped it, in words.
    """
    for target, pipeline, what, begun in tuple(_BEGUN):
        error = {"code": "INTERRUPTED", "message": f"stopped by {by}"}
        write_record(target, pipeline, {"what": what, "begun": begun, "ended": now(), "outcome": "failed", "error": error})


def of_run(result: RunResult) -> dict[str, Any]:
    """Return what a record tells of a run."""
    checks = [{"name": one["name"], "status": one["status"], "rows": one["rows"]} for one in result.checks]
    more = {"source_commits": result.read_commits, "conflicts": result.conflicts, "waited_seconds": result.waited_seconds}
    return {
        "outcome": result.outcome,
        "run_id": result.run_id,
        "commits": list(result.commits),
        "seconds": result.seconds or {},
        "rows": {
            "inserts": result.inserts,
            "updates": result.updates,
            "deletes": result.deletes,
            "moves": result.moves,
            "mixed": list(result.mixed),
            "quarantined": result.quarantined,
            **({} if result.read_rows is None else {"read": result.read_rows}),
        },
        **{key: value for key, value in more.items() if value},
        "checks": checks,
        "reason": result.reason,
        "error": error_of(result.error) if result.error else None,
    }


def remember_killed(target: TableRef, left: Mapping[str, Any]) -> None:
    """Record a run that was killed, by what it left in its lease.

    Args:
        target: The table.
        left: See ``Lease.left``; one that failed has told it itself.
    """
    begun, pipeline = left.get("begun"), left.get("pipeline")
    if left.get("failed") or left.get("what") == CHUNK or not isinstance(begun, float) or not pipeline:
        return
    moment = datetime.fromtimestamp(begun, timezone.utc).strftime("%Y%m%d%H%M%S%f")[:17]
    if _has_told(target, str(pipeline), moment):
        return
    doing = f", while {left['doing']}" if left.get("doing") else ""
    what = str(left.get("what", "run")).replace("table services", "service")
    write_record(
        target,
        str(pipeline),
        {
            "what": what,
            "begun": moment,
            "outcome": "killed",
            "reason": f"pid {left.get('pid')} on {left.get('host')} was killed{doing}",
        },
    )


def _has_told(target: TableRef, pipeline: str, moment: str) -> bool:
    """Say whether a run that was at work at a moment has told itself that it was stopped."""
    try:
        newest, _ = read_records(target, pipeline, 1)
    except Exception:  # a store that does not answer keeps nobody from running
        return False
    return any(
        (one.get("error") or {}).get("code") == "INTERRUPTED" and one["begun"] <= moment <= one.get("ended", "")
        for one in newest
    )


def write_record(target: TableRef, pipeline: str, record: Mapping[str, Any]) -> None:
    """Write a record, unless the store does not let it be written in time.

    Args:
        target: The table.
        pipeline: Whose run it is.
        record: What is told; ``outcome`` decides its kind.
    """

    def write() -> None:
        # Nobody's run fails because it cannot be remembered.
        with suppress(Exception):
            _write(storage_for(target.path), folder_of(target, pipeline), {**kept(record), "version": VERSION})
        with suppress(Exception):
            count(target, pipeline, record)

    if is_local(target.path):
        write()
        return
    thread = threading.Thread(target=write, name="record", daemon=True)
    thread.start()
    thread.join(_PATIENCE_SECONDS)


def read_records(
    target: TableRef,
    pipeline: str,
    limit: int,
    since: str = "",
    failed: bool = False,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a pipeline's newest records, and the names of those that cannot be read.

    Args:
        target: The table.
        pipeline: Whose runs.
        limit: How many at most.
        since: Time, UTC, from which on runs began.
        failed: Only those that did not end well.
    """
    storage, folder = storage_for(target.path), folder_of(target, pipeline)
    found: list[dict[str, Any]] = []
    unreadable: list[str] = []
    for name in reversed(names_of(storage, folder)):
        begun, kind = name[:17], name.split(".")[-2]
        # Of several in one file the last may have begun later.
        if len(found) == limit or (begun < since and kind not in _FOLDED):
            break
        if failed and kind not in FAILURES:
            continue
        try:
            record = read_file(storage, f"{folder}/{name}")
            if record.get("last", begun) < since:
                break
            found.append(record)
        except FileNotFoundError:
            # It was among the oldest ones.
            continue
        except (OSError, ValueError):
            unreadable.append(name)
    return found, unreadable


def _write(storage: Storage, folder: str, record: dict[str, Any]) -> None:
    names = names_of(storage, folder)
    kind = _kind(record)
    name = f"{record['begun']}-{uuid.uuid4().hex[:8]}.{kind}.json"
    if kind in _FOLDED and names and names[-1].split(".")[-2] == kind:
        # One that is cut stays for whoever looks.
        with suppress(OSError, ValueError):
            before = read_file(storage, f"{folder}/{names[-1]}")
            if before["what"] == record["what"]:
                name, record = (
                    names[-1],
                    {**record, "begun": before["begun"], "last": record["begun"], "count": int(before.get("count", 1)) + 1},
                )
    storage.put(f"{folder}/{name}", json.dumps(record, sort_keys=True, default=str).encode())
    # The last audit is told as long as there is no other one.
    audit = next((one for one in reversed(names) if kind_of(one) in AUDITS), "") if kind not in AUDITS else ""
    many = [old for old in names if old != audit]
    for old in many[: max(0, len(many) + 1 - KEPT)][:_REMOVED_AT_ONCE]:
        storage.remove(f"{folder}/{old}")


def _kind(record: Mapping[str, Any]) -> str:
    if (record.get("error") or {}).get("code") == "ALREADY_RUNNING":
        return "busy"
    if record.get("error") or record.get("outcome") == "failed":
        return "failed"
    return {"committed": "done"}.get(str(record.get("outcome")), str(record.get("outcome")))


def error_of(error: BaseException) -> dict[str, object]:
    """Return what a record tells of an error: its code, and the first line of what it says."""
    if not isinstance(error, Exception):
        return {"code": "INTERRUPTED", "message": type(error).__name__}
    known = unforeseen(error)
    return {"code": known.code, "message": first_line(known.message)}
