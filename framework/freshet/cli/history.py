"""``freshet history``: what became of a pipeline's runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from freshet.cli.options import load, project_options
from freshet.cli.output import Output, reporting
from freshet.errors import Exit
from freshet.hudi.instants import readable, time_of
from freshet.hudi.timeline import TimelineState
from freshet.sources.hudi.reads import counted

if TYPE_CHECKING:
    from freshet.run.history import Entry

_UNITS = ((90, 1, "s"), (5400, 60, "min"), (float("inf"), 3600, "h"))
_WIDTHS = (20, 12, 10, 8)
_COUNTED = {"inserts": "inserted", "updates": "updated", "deletes": "deleted", "moves": "moved", "written": "written"}


@click.command(short_help="Show what became of a pipeline's runs.")
@click.argument("name")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many of the newest to show.")
@click.option(
    "--since",
    default="",
    metavar="TIME",
    help="Only runs since a time, UTC: 2026-11-25, 2026-11-25 23:54:37, or how long ago: 5m, 2h, 3d.",
)
@click.option("--failed", is_flag=True, help="Only runs that failed, were killed, or were skipped.")
@project_options
@reporting
def history(
    output: Output,
    name: str,
    limit: int,
    since: str,
    failed: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Show what became of a pipeline's runs, the newest first: when, how long by phase, rows, checks, result.

    Idle and failed runs, backfills and table services are among them. Each run leaves a small file beside the table, of which
    the newest 1,000 are kept; idle ones in a row are one line with their number. Commits that no such file tells of, as those
    of other writers, are shown by the table's timeline, without their seconds. Starts no Spark.

    \b
    Examples:
      freshet history trip_earnings
      freshet history trip_earnings --failed --since 2026-11-01
      freshet history trip_earnings --limit 200 --output json
    """
    from freshet.run.history import read_history

    begin = time_of(since)
    if since and not begin:
        said = f"{since!r} is no time: write one such as 2026-11-25 23:54:37, or how long ago: 5m, 2h, 3d."
        raise click.BadParameter(said, param_hint="--since")
    spec = load(root, env, overrides, (name,)).pipelines[0]
    entries, unreadable = read_history(spec, TimelineState(), limit, begin, failed)
    rows = [line for entry in entries for line in _lines(entry)]
    head = _row(("WHEN", "WHAT", "RESULT", "TIME"), "ROWS")
    none = f"{name}: no run{' failed' * failed}{f' since {readable(begin)}' if begin else ' yet' * (not failed)}"
    output.result(
        "\n".join([head, *rows]) if rows else none,
        {"pipeline": name, "runs": [entry.as_json() for entry in entries], "unreadable": unreadable},
    )
    if unreadable:
        output.aside(
            f"{counted(len(unreadable), 'record')} cannot be read and {'is' if len(unreadable) == 1 else 'are'} left out: "
            f"{', '.join(unreadable[:3])}{' ...' * (len(unreadable) > 3)}"
        )
    return Exit.OK


def _row(cells: tuple[str, ...], rest: str) -> str:
    return "  ".join([*(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)), rest]).rstrip()


def _lines(entry: Entry) -> list[str]:
    total = entry.seconds.get("total")
    result = entry.outcome + (f" x{entry.count}" if entry.count > 1 else "")
    when = readable(entry.last or entry.begun)
    rows = sum(count for kind, count in entry.rows.items() if kind in _COUNTED)
    lines = [_row((when, entry.what, result, "-" if total is None else _duration(total)), f"{rows:,}" if entry.rows else "-")]
    return [*lines, *(f"  {part}" for part in _details(entry) if part)]


def _details(entry: Entry) -> list[str]:
    phases = ", ".join(f"{name} {_duration(took)}" for name, took in entry.seconds.items() if name != "total")
    worse = [check for check in entry.checks if check["status"] not in ("passed", "skipped")]
    checks = ""
    if entry.checks:
        bad = ((one, f" ({counted(one['rows'], 'row')})" if one["rows"] else "") for one in worse)
        named = ", ".join(f"{one['name']} {one['status']}{rows}" for one, rows in bad)
        passed = sum(check["status"] == "passed" for check in entry.checks)
        checks = "checks: " + ", ".join(part for part in (f"{passed} passed" if passed else "", named) if part)
    first = f"the first at {readable(entry.begun)}" if entry.count > 1 else ""
    error = f"{entry.error['code']}: {entry.error['message']}" if entry.error else ""
    return [
        "; ".join(part for part in (_rows(entry), _more(entry), checks) if part),
        phases,
        "; ".join(part for part in (entry.reason, first) if part),
        error,
    ]


def _more(entry: Entry) -> str:
    more = entry.more
    if "chunks" in more:
        start, end, _ = more["backfill"].split("/")
        failed = f", {len(more['failed'])} failed" if more["failed"] else ""
        return f"{start[:10]} to {end[:10]}: {more['done']} of {counted(more['chunks'], 'chunk')} done{failed}"
    if "start" in more:
        return f"chunk {more['start']} to {more['end']}"
    done = more.get("done")
    return ", ".join(f"{service} {readable(what)}" for service, what in done.items()) if isinstance(done, dict) else ""


def _rows(entry: Entry) -> str:
    words = {**_COUNTED, "quarantined": "to the quarantine"}
    if "updates" in entry.rows.get("mixed", ()):
        words["updates"] = "inserted or updated"
    if "deletes" in entry.rows.get("mixed", ()):
        words["deletes"] = "deleted (a moved row counts as both)"
    found = [f"{entry.rows[kind]:,} {word}" for kind, word in words.items() if entry.rows.get(kind)]
    return ", ".join(found)


def _duration(seconds: float) -> str:
    size, unit = next((size, unit) for below, size, unit in _UNITS if seconds < below)
    return f"{seconds / size:.1f} {unit}"
