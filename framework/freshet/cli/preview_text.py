"""How a preview is shown: as text, as JSON, and its rows as CSV."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from freshet.cli.rows import cell, csv_of, grid, table
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.result import older_in_words

if TYPE_CHECKING:
    from freshet.run.preview import Changed, Preview


#: What would become of rows, in the order and by the words in which people are told.
KINDS = {
    "inserted": "inserted",
    "updated": "updated",
    "moved": "moved to another partition",
    "deleted": "deleted",
    "unchanged": "written again as they stand",
    "older": "ignored: a newer row stands",
    "nothing": "ignored: they delete nothing that stands",
    "unsure": "not known",
}
_TITLES = {
    "updated": "rows that change",
    "moved": "rows that move",
    "inserted": "new rows",
    "deleted": "rows that go",
    "older": "rows that are ignored, beside the newer ones that stand (theirs -> the batch's)",
    "unsure": "rows not known",
}


_MOVED_IS_BOTH = " (a row that moves to another partition counts as inserted there and as deleted here)"


def _moves_are_both(spec: PipelineSpec, counts: Mapping[str, int]) -> bool:
    # An index that looks in one partition alone takes it for two rows.
    local = bool(spec.target.partition_by) and not spec.index.is_global
    return local and bool(counts.get("inserted")) and bool(counts.get("deleted"))


def json_of(plan: Plan, found: Preview, rows: Mapping[str, tuple[Changed, ...]]) -> dict[str, Any]:
    """Return a preview as a JSON-serialisable mapping."""
    return {
        "pipeline": plan.pipeline,
        "reads": found.reads,
        "reason": plan.window.reason,
        "batch": found.batch,
        "superseded": found.superseded,
        "mixed": ["older_kept"] if found.older.at_least else [],
        "counts": {kind: found.counts.get(kind, 0) for kind in KINDS},
        "quarantined": found.quarantined,
        "older_kept": found.older.kept,
        "undeletable": found.older.undeletable,
        "not_known": list(found.unknown),
        "rows": {kind: [{"row": dict(one.row), "was": dict(one.was)} for one in of] for kind, of in rows.items()},
        "checks": [outcome.as_json() for outcome in found.outcomes],
        "error": found.error.as_json() if found.error is not None else None,
    }


def csv_text(rows: Mapping[str, tuple[Changed, ...]]) -> str:
    """Return a line for each row: what becomes of it, its values, and of a column that differs the value that stands."""
    names = list(dict.fromkeys(name for of in rows.values() for one in of for name in one.row))
    return csv_of(
        ["_change", *names, *(f"_was_{name}" for name in names)],
        (
            [kind, *(one.row.get(name) for name in names), *(one.was.get(name) for name in names)]
            for kind, of in rows.items()
            for one in of
        ),
    )


def text_of(spec: PipelineSpec, plan: Plan, found: Preview, rows: Mapping[str, tuple[Changed, ...]]) -> str:
    """Return a preview as a person reads it."""
    lines = [f"{plan.pipeline}: {found.reads}"]
    both = _MOVED_IS_BOTH if _moves_are_both(spec, found.counts) else ""
    lines += [
        f"  {found.counts[kind]:>9,} {words}{both * (kind == 'deleted')}"
        for kind, words in KINDS.items()
        if found.counts.get(kind)
    ]
    if not found.counts:
        lines.append("  no row would be written")
    if found.superseded:
        lines.append(f"  {found.superseded:>9,} of the batch ignored: it holds a newer row of the key")
    if found.quarantined:
        older = older_in_words(found.older.kept, found.older.undeletable, found.older.at_least)
        lines.append(f"  {found.quarantined:>9,} to the quarantine{older}")
    lines += [f"  schema: {c.change} {c.column}: {c.before or '-'} -> {c.after}" for c in plan.schema_changes]
    lines += [f"  {n.code}: {n.message}" for n in plan.notices]
    lines += [f"  not known: {said}" for said in found.unknown]
    for kind, of in rows.items():
        more = f", {len(of):,} of {found.counts[kind]:,}" if len(of) < found.counts[kind] else ""
        lines += ["", f"{_TITLES[kind]}{more}:"]
        whole = kind in ("inserted", "deleted")
        lines += (
            [grid(list(of[0].row), [list(one.row.values()) for one in of])]
            if whole
            else [line for one in of for line in _beside(spec.target.record_key, one)]
        )
    if found.outcomes:
        told: list[tuple[str, ...]] = [
            (o.name, o.severity, o.status, str(o.rows or "-"), o.seen, o.expected) for o in found.outcomes
        ]
        lines += ["", table(("CHECK", "SEVERITY", "STATUS", "BAD ROWS", "SEEN", "EXPECTED"), told)]
        lines += [f"{o.name}: {row}" for o in found.outcomes for row in o.sample]
    if found.error is not None:
        lines += ["", f"The run would publish nothing: {found.error}"]
    return "\n".join(lines)


def _beside(key: Sequence[str], changed: Changed) -> list[str]:
    """Return a row that differs from the one that stands, column by column: what stands -> what would."""
    lines = [", ".join(f"{name}={cell(changed.row.get(name))}" for name in key)]
    width = max(map(len, changed.was), default=0)
    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for name, was in changed.was.items():
        line = f"  {name.ljust(width)}  {cell(was)} -> {cell(changed.row.get(name))}"
        if most is None or len(line) <= most:
            lines.append(line)
        else:
            lines += [f"  {name}", f"    {cell(was)}", f"    -> {cell(changed.row.get(name))}"]
    return lines if changed.was else [*lines, "  differs in other columns"]
