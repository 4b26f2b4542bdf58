"""How an audit is shown to people."""

from __future__ import annotations

from collections.abc import Iterator

from freshet.audit.kept import percent
from freshet.audit.result import AuditResult, Example
from freshet.cli.rows import cell
from freshet.hudi.instants import readable
from freshet.sources.hudi.reads import counted

_TITLES = {
    "missing": "rows that are missing",
    "surplus": "rows that should not be there",
    "unequal": "rows that differ (as they stand -> as they should)",
}


def text_of(found: AuditResult) -> str:
    """Return an audit's result as a person reads it."""
    return "\n".join([f"{found.pipeline}: {_verdict(found)}", *(f"  {line}" for line in _facts(found)), *_examples(found)])


def _verdict(found: AuditResult) -> str:
    drawn = f" ({percent(found.share)} drawn by {', '.join(found.by)})" if found.by else ""
    head = f"{counted(found.checked, 'row')} checked{drawn}: "
    if not found.differing:
        return head + ("all equal a recompute" if found.checked else "there is none")
    kinds = [(found.missing, "missing"), (found.surplus, "surplus"), (found.unequal, "unequal")]
    columns = ", ".join(f"{name}: {rows:,}" for name, rows in found.columns.items())
    words = ", ".join(f"{rows:,} {kind}" for rows, kind in kinds if rows)
    return f"{head}{found.differing:,} differ: {words}" + (f" ({columns})" if columns else "")


def _facts(found: AuditResult) -> Iterator[str]:
    yield f"as of the checkpoint {readable(found.checkpoint, found.zone)} in commit {readable(found.commit)}"
    if found.cleaned:
        yield f"of {', '.join(found.cleaned)} the present rows: those of the checkpoint are cleaned, and nothing waits"
    if found.since:
        yield f"only rows that came since {readable(found.since)}; such as went since then cannot be told"
    if found.left_out:
        yield f"not compared, as they say when a row was computed: {', '.join(found.left_out)}"
    if found.by and found.checked:
        what = "rows are wrong" if found.bound_of == "rows" else f"pieces (by {', '.join(found.by)}) hold a wrong row"
        when = " before the repair" if found.repaired else ""
        most = percent(found.upper_bound, up=True)
        yield f"with 95% confidence at most {most} of all {what}{when}; drawn by --seed {found.seed}"
    if found.kept_out:
        yield f"not compared: {counted(found.kept_out, 'key')} of rows that a check keeps out of the table"
    if found.lost:
        why = "somebody has dropped rows there" if found.dropped_by_hand else f"freshet run {found.pipeline} --full-refresh"
        yield f"{counted(found.lost, 'row')} of these are neither in the table nor in the quarantine: {why}"
    for cause in found.causes:
        yield f"{'cause' if cause.rows is not None else 'may be'}: {cause.code}: {cause.message}"
    if found.unexplained:
        may_be = any(cause.rows is None for cause in found.causes)
        nothing = f"nothing tells where the difference comes from; what runs may miss: freshet explain {found.pipeline}"
        yield f"{counted(found.unexplained, 'row')}: {'that it comes from there is not certain' if may_be else nothing}"
    if found.repaired is not None:
        done = found.repaired
        yield (
            f"repaired by commit {readable(done.commit)} ({done.how}): {counted(done.written, 'row')} written, "
            f"{done.deleted:,} deleted; the checkpoint stays"
        )
        if found.by:
            yield f"other rows may be wrong, too: freshet audit {found.pipeline} --all --repair"
    elif found.differing:
        yield f"to repair them: freshet audit {found.pipeline} --all --repair"


def _examples(found: AuditResult) -> Iterator[str]:
    for kind, title in _TITLES.items():
        shown = [one for one in found.examples if one.kind == kind]
        if not shown:
            continue
        rows = {"missing": found.missing, "surplus": found.surplus, "unequal": found.unequal}[kind]
        yield ""
        yield f"{title}{f', {len(shown)} of {rows:,}' if len(shown) < rows else ''}:"
        for one in shown:
            yield from _row(one)


def _row(one: Example) -> Iterator[str]:
    by = f"  (commit {readable(one.commit)})" if one.commit else ""
    yield ", ".join(f"{name}={cell(value)}" for name, value in one.key.items()) + by
    if one.kind != "unequal":
        row = one.recompute or one.target or {}
        others = {name: value for name, value in row.items() if name not in one.key}
        width = max(map(len, others), default=0)
        yield from (f"  {name.ljust(width)}  {cell(value)}" for name, value in others.items())
        return
    width = max(map(len, one.columns), default=0)
    stands, right = one.target or {}, one.recompute or {}
    yield from (f"  {name.ljust(width)}  {cell(stands.get(name))} -> {cell(right.get(name))}" for name in one.columns)
