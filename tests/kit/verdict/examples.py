"""Examples of changes made concrete: in tables that are drawn, a row is changed as an example of a finding says."""

from __future__ import annotations

import random
from typing import Any

from freshet.verdict.result import Example
from tests.kit.verdict.case import Case
from tests.kit.verdict.model import SRC, Images, Runs
from tests.kit.verdict.published import same
from tests.kit.verdict.sqlite import Key, Row


def made_concrete(case: Case, example: Example, seed: int, steps: int = 3) -> bool:
    """Say whether an example of a change makes a difference, in tables that are drawn.

    Args:
        case: The pipeline.
        example: The example.
        seed: Draws the tables, and of the changed row what the example leaves open.
        steps: Runs before it, after which the target is what a recompute makes.
    """
    runs = Runs(case, random.Random(seed))
    then = _changed(runs, example, steps)
    if then is None:
        return False
    runs.run(then)
    return not same(runs.spec, runs.target, runs.recomputed())


def concrete(case: Case, example: Example, seed: int, steps: int = 3) -> tuple[Images, Images] | None:
    """Return the tables before and after an example's change, where it makes a difference whichever of equal rows are kept.

    Tables of Hudi have no nulls in keys and ordering fields: None where there are such, or no difference.

    Args:
        case, example, seed, steps: See ``made_concrete``.
    """
    runs = Runs(case, random.Random(seed), again=0.0)
    then = _changed(runs, example, steps)
    if then is None or not all(runs.rows.values()):
        return None
    now = {name: dict(image) for name, image in runs.rows.items()}
    kept = [*case.target.key, case.target.ordering]
    first: tuple[dict[Key, Row], ...] = ()
    for tie in range(4):
        runs.ties = random.Random(tie)
        runs.rows = {name: dict(image) for name, image in then.items()}
        runs.target = before = runs.recomputed()
        runs.rows = {name: dict(image) for name, image in now.items()}
        runs.run(then)
        found = (before, runs.target, runs.recomputed())
        first = first or found
        sure = all(same(runs.spec, one, other) for one, other in zip(first, found, strict=True))
        if not sure or same(runs.spec, *found[1:]) or any(r[c] is None for rows in found for r in rows.values() for c in kept):
            return None
    return then, now


def _changed(runs: Runs, example: Example, steps: int) -> Images | None:
    """Draw tables, change a row as an example says, and return the tables as they were; None where there is no row."""
    case = runs.case
    of = SRC if example.table == SRC else case.table_of(next(n for n in case.inputs if n.lower() == example.table))
    for _ in range(steps):
        runs.step()
    rows, table = runs.rows[of], runs.tables[of]
    if not rows:
        return None
    key = runs.chance.choice(sorted(rows))
    before = {column: _literal(text) for column, text in example.before.items() if column in table.columns}
    after = {column: _literal(text) for column, text in example.after.items() if column in table.columns}
    rows[key] = {**rows[key], **{c: v for c, v in before.items() if c not in table.key}}
    runs.target = runs.recomputed()
    then = {name: dict(image) for name, image in runs.rows.items()}
    runs.clock += 10
    # The values that it names for which any other would do are those of the row.
    row = {**rows[key], table.ordering: runs.clock}
    row.update({c: v for c, v in after.items() if c not in table.key and before.get(c) != v})
    if example.change == "delete":
        del rows[key]
    elif example.change == "insert":
        runs.change(of, "insert")
    else:
        if not after or before == after:
            runs.change(of, "update")
        else:
            # What else of the row changes the example leaves open.
            loose = [c for c in table.columns if c not in (*table.key, table.ordering, *after)]
            for column in runs.chance.sample(loose, min(len(loose), runs.chance.choice((0, 1)))):
                row[column] = runs.value(column, column in table.never_null)
            rows[key] = row
    runs.clock += 10
    return then


def _literal(text: str) -> Any:
    if text == "NULL":
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    # Of the columns nobody knows the types: a letter stands for any value.
    return {"'a'": 1, "'b'": 2, "'x'": 1}.get(text, text.strip("'") if text.startswith("'") else int(text))
