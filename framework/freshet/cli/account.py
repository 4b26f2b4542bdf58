"""``freshet account``: which commit of a source went into which commit of a target, and what became of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from freshet.account.model import Account, Edge, Fed, Take
from freshet.cli.options import load, project_options, selection_options
from freshet.cli.output import Output, reporting
from freshet.errors import Exit
from freshet.hudi.instants import is_instant, readable, time_of
from freshet.hudi.one_look import OneLook
from freshet.hudi.timeline import TimelineState
from freshet.secrets import redact_tree
from freshet.sources.hudi.reads import counted

_WORDS = {
    "taken": "taken",
    "whole": "read as a whole",
    "before": "before the target's first checkpoint",
    "skipped": "skipped",
    "waiting": "waiting",
    "dropped": "DROPPED",
    "gone": "TAKEN BACK",
}


@click.command(short_help="Say which commit of a source went where, and which none has taken.")
@selection_options
@click.option(
    "--since",
    default="",
    metavar="TIME",
    help="Only commits since a time, UTC: 2026-11-25, 2026-11-25 23:54:37, or how long ago: 5m, 2h, 3d.  [default: all]",
)
@click.option("--commits", "listed", is_flag=True, help="List each commit of the sources, and not only the sums.")
@project_options
@reporting
def account(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    since: str,
    listed: bool,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Account for every commit of a pipeline's sources: which commit of the target took it, and what became of its rows.

    Rows in are rows published, in the quarantine, and left out: by the SQL's filters and groups, or because they changed
    nothing. A commit that was dropped or applied twice is named, with the reason; and so is what a pipeline upstream has
    published and the account does not have. Read from timelines and commits alone; starts no Spark. Ends with 7 where
    something was dropped or applied twice.

    \b
    Examples:
      freshet account trip_earnings
      freshet account --all --since 7d
      freshet account trip_earnings --commits --output json
    """
    from freshet.account.read import accounts_of

    begin = time_of(since)
    if since and not begin:
        said = f"{since!r} is no time: write one such as 2026-11-25 23:54:37, or how long ago: 5m, 2h, 3d."
        raise click.BadParameter(said, param_hint="--since")
    project = load(root, env, overrides, names, tags, everything)
    found = accounts_of(project.pipelines, OneLook(TimelineState()), begin)
    text = "\n\n".join("\n".join(_lines(one, listed)) for one in found)
    output.result(text, {"accounts": [redact_tree(one.as_json()) for one in found]})
    return Exit.CHECK if any(one.has_faults for one in found) else Exit.OK


def _lines(one: Account, listed: bool) -> Iterator[str]:
    if one.error:
        yield f"{one.pipeline} -> {one.target}: {one.error}"
        return
    faults = sum(len(edge.faults) for edge in one.edges) + sum(bool(take.why) for take in one.takes) + len(one.unclosed)
    yield f"{one.pipeline} -> {one.target}: {'closed' if one.is_closed else counted(faults, 'fault') if faults else 'not told'}"
    for edge in one.edges:
        yield f"  {_edge(edge)}"
        for fed in edge.fed if listed else edge.faults:
            yield f"    {_fed(fed, edge.zone, one.zone)}"
    yield from (f"  {line}" for line in _sums(one.takes))
    yield from (f"  {line}" for line in _by_statement(one))
    yield from (f"  APPLIED TWICE  {readable(take.commit, one.zone)}: {take.why}" for take in one.takes if take.why)
    yield from (f"  NOT CLOSED  {words}" for words in one.unclosed)


def _edge(edge: Edge) -> str:
    if edge.why:
        return f"{edge.table}: {edge.why}"
    number, rows = edge.total
    parts = [f"{commits:,} {_WORDS[fate]} ({rows:,})" for fate, (commits, rows) in edge.sums.items()]
    return f"{edge.table}: {counted(number, edge.unit)}, {counted(rows, 'row')}" + (f": {', '.join(parts)}" if parts else "")


def _fed(fed: Fed, zone: str, target_zone: str) -> str:
    what = readable(fed.what, zone, to_the_millisecond=True) if is_instant(fed.what) else fed.what
    by = f" by {', '.join(readable(one, target_zone) for one in fed.by)}" if fed.by else ""
    word = "APPLIED TWICE" if len(fed.by) > 1 else _WORDS[fed.fate]
    return f"{what}  {counted(fed.rows, 'row')}  {word}{by}" + (f": {fed.why}" if fed.why else "")


def _sums(takes: tuple[Take, ...]) -> Iterator[str]:
    known = [take for take in takes if take.rows_in is not None]
    if not known:
        return
    rows_in, published = sum(take.rows_in or 0 for take in known), sum(take.published for take in known)
    quarantined, left = sum(take.quarantined for take in known), sum(take.left_out or 0 for take in known)
    parts = [f"published {published:,}", f"quarantined {quarantined:,}", _left_out(known, left)]
    yield f"rows of {counted(len(known), 'increment')}: in {rows_in:,} = {' + '.join(parts)}"


def _by_statement(one: Account) -> Iterator[str]:
    by_logic = [take for take in one.takes if take.by_logic]
    if not by_logic:
        return
    earlier = "" if all(take.is_by_this_logic for take in by_logic) else ", as the files are now, which have changed since"
    again = ", and rows that several of its commits changed are read once" if any(take.commits > 1 for take in by_logic) else ""
    if not one.leaves_out:
        yield f"left out: nothing in the SQL leaves rows out{again}{earlier}"
    elif len(one.leaves_out) == 1:
        yield f"left out: only {one.leaves_out[0]} can leave rows out{again}{earlier}"
    else:
        parts = ", ".join(one.leaves_out)
        yield f"left out: by {parts}; how many by which would take a pass over the batch for each{again}{earlier}"


def _left_out(known: list[Take], left: int) -> str:
    if any(take.batch is None for take in known):
        return f"left out {left:,}"
    logic, write = sum(take.by_logic or 0 for take in known), sum(take.by_write or 0 for take in known)
    return f"left out by the SQL {logic:,} + changed nothing {write:,}"
