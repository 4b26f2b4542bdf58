"""What a target holds once a batch was written, by the operation, the checks and the ordering field."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence

import sqlglot

from freshet.project.model.checks import RowRule, UniqueRule
from freshet.project.model.pipeline import PipelineSpec
from tests.kit.verdict.sqlite import Key, NotModelled, Row, create

FLAG = "_hoodie_is_deleted"


def published(spec: PipelineSpec, target: Mapping[Key, Row], batch: Sequence[Row], chance: random.Random) -> dict[Key, Row]:
    """Return a target after a batch was written."""
    result = dict(target)
    names = [c.name.lower() for c in spec.target.columns]
    ordering = spec.target.ordering_field
    rows = _kept(spec, [{name: row[name] for name in names} for row in batch])
    keyed: dict[Key, list[Row]] = {}
    for row in rows:
        keyed.setdefault(tuple(row[c] for c in spec.target.record_key), []).append(row)
    if spec.operation == "insert_overwrite":
        touched = {tuple(row[c] for c in spec.target.partition_by) for row in rows}
        result = {k: r for k, r in result.items() if tuple(r[c] for c in spec.target.partition_by) not in touched}
    for key, several in keyed.items():
        live = [row for row in several if not row.get(FLAG)] or several
        best = max((row[ordering] is not None, row[ordering] or 0) for row in live)
        row = chance.choice([row for row in live if (row[ordering] is not None, row[ordering] or 0) == best])
        old = result.get(key)
        if old is not None and (old[ordering] or 0) > (row[ordering] or 0):
            continue
        if row.get(FLAG) or spec.operation == "delete":
            result.pop(key, None)
        else:
            result[key] = row
    return result


def _kept(spec: PipelineSpec, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that no check drops, and those by which the older rows of dropped ones are deleted."""
    if not spec.checks:
        return list(rows)
    base = sqlite3.connect(":memory:")
    create(base, "batch", list(rows[0]) if rows else [FLAG], rows)
    dropped: dict[int, bool] = {}
    for check in (one for one in spec.checks if one.severity == "drop"):
        match check.rule:
            case RowRule(where):
                condition = sqlglot.transpile(where, read="spark", write="sqlite")[0]
            case UniqueRule(columns, "batch"):
                twice = f"SELECT {columns[0]} FROM batch WHERE NOT coalesce({FLAG}, 0) GROUP BY 1 HAVING count(*) > 1"
                condition = f"{columns[0]} IN ({twice})" if len(columns) == 1 else "false"
            case _:
                raise NotModelled(check.name)
        text = f"SELECT rowid - 1 FROM batch WHERE ({condition}) AND NOT coalesce({FLAG}, 0)"
        for (number,) in base.execute(text).fetchall() if rows else ():
            dropped[number] = dropped.get(number, False) or check.deletes
    base.close()
    deleted = [{**rows[number], FLAG: True} for number, deletes in dropped.items() if deletes]
    return [*(row for number, row in enumerate(rows) if number not in dropped), *deleted]


def same(spec: PipelineSpec, one: Mapping[Key, Row], other: Mapping[Key, Row]) -> bool:
    """Say whether two states of a target are equal but for the ordering field."""
    left, right = (
        {k: {c: v for c, v in r.items() if c not in (spec.target.ordering_field, FLAG)} for k, r in rows.items()}
        for rows in (one, other)
    )
    return left == right
