"""Drawn pipelines on real tables: what is called exact equals a recompute after every run, an example of what is not differs.

``tests/unit/verdict`` draws thousands in a model. Here they are files of a project, and Hudi has their tables. The exact ones
share these: many histories stand side by side, each with keys and groups of its own. Falls under it: filters, joins of up to
three inputs by snapshot, affected partitions and look-back, aggregates of the groups that were touched, windows, unions,
fan-out; on COPY_ON_WRITE and MERGE_ON_READ. Rows are inserted, updated to and from what is kept, deleted, moved between
partitions and groups, inserted again, written again as they were; news in several tables in one window, in one alone, in none;
a commit that has begun before a run, and completed after it; a commit of nothing.

An example of a change is made concrete in the model: the rows of its tables before and after. These are landed, with a run
between them.

`make test` draws by a fixed seed, and FRESHET_EXAMPLES as many times more by others.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from freshet.verdict.describe import example_in_words
from tests.kit.lake import Lake
from tests.kit.verdict.case import Case
from tests.kit.verdict.chosen import State, exact_pipelines, examples
from tests.kit.verdict.files import write_files
from tests.kit.verdict.model import SRC
from tests.kit.verdict.recompute import Recompute
from tests.kit.verdict.table import Table
from tests.kit.verdict.worlds import SOURCES, Worlds, become, complete, hidden, land

# Each time: eight exact pipelines with 130 histories each, a thousand in all, through five runs; and six examples. Some 75 s of
# the CPU, and 15.
PIPELINES, DRAWN, WORLDS, EXAMPLES = 8, 200, 130, 6
STEPS = ("first", "all", "late", "others", "nothing")
SEED = random.SystemRandom().randrange(10**6) if "FRESHET_EXAMPLES" in os.environ else 1
SEEDS = [pytest.param(SEED + number, id=f"{number}") for number in range(int(os.environ.get("FRESHET_EXAMPLES", "1")))]


def _told(cases: Mapping[str, Case], names: Iterable[str]) -> str:
    return "\n\n".join(f"{name}: {cases[name].head}\n{cases[name].text}" for name in names)


def _run(lake: Lake) -> dict[str, str]:
    return {name: str(one.error) for name, one in lake.run_all().items() if one.error}


def _worlds(lake: Lake, cases: Mapping[str, Case], seed: int) -> tuple[Worlds, dict[str, dict[str, str]]]:
    """Return the tables of these pipelines, which share them, and the names that each pipeline's have in the lake."""
    shapes = {SRC: Table.of("id* g a v day/ updated_at^")}
    for case in cases.values():
        shapes |= {of: case.input_table(one) for one in case.inputs if (of := case.table_of(one)) != SRC}
    tables = {
        name: {SRC: SOURCES[bool(case.source.partition)], **{of: f"raw.{of}" for of in shapes if of != SRC}}
        for name, case in cases.items()
    }
    return Worlds(lake, shapes, random.Random(seed), WORLDS, {one[SRC] for one in tables.values()}), tables


def _step(worlds: Worlds, step: str) -> list[tuple[Path, Path]]:
    """Let happen what comes before a run; returns the commits that complete after it."""
    others = [name for name in worlds.shapes if name != SRC]
    if step == "nothing":
        for table, shape in worlds.tables[SRC]:
            land(worlds.lake, table, shape, [{**dict.fromkeys(shape.columns, 1), "id": 10**9}], "delete")
    elif step != "first":
        worlds.change(others or [SRC] if step == "others" else [*worlds.shapes, SRC])
    # Its deletes, where there are any, are a commit of their own.
    return [hidden(worlds.lake, f"raw.{others[0]}")] if step == "late" and others else []


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_pipelines_equal_their_recompute(lake: Lake, seed: int) -> None:
    cases = exact_pipelines(seed, DRAWN, PIPELINES)
    assert len(cases) == PIPELINES, seed
    worlds, tables = _worlds(lake, cases, seed)
    for at, (name, case) in enumerate(cases.items()):
        write_files(lake, name, case, tables[name], mor=bool(at % 2))
    worlds.begin()
    recompute = Recompute(lake)
    for step in STEPS:
        held = _step(worlds, step)
        failed = _run(lake)
        assert failed == {}, f"seed {seed}, step {step}: {failed}\n{_told(cases, failed)}"
        found = recompute.differences(cases, tables)
        assert found == {}, f"seed {seed}, step {step}: {found}\n{_told(cases, found)}"
        for one in held:
            complete(one)


@pytest.mark.parametrize("seed", SEEDS)
def test_examples_of_inexact_pipelines_make_a_difference(lake: Lake, seed: int) -> None:
    """Each pipeline has tables of its own, as the example has them before, and then after."""
    # Else a look-back goes a day further, as nobody knows in which zone the commits are named.
    lake.land_options |= {"hoodie.table.timeline.timezone": "UTC"}
    told = {f"p{at}": one for at, one in enumerate(examples(seed, DRAWN, EXAMPLES))}
    cases = {name: case for name, (case, *_) in told.items()}
    assert len(cases) == EXAMPLES, seed
    shapes = {
        name: {SRC: case.source, **{of: case.input_table(i) for i in case.inputs if (of := case.table_of(i)) != SRC}}
        for name, case in cases.items()
    }
    tables = {name: {of: f"raw.{of.lower()}_{name}" for of in some} for name, some in shapes.items()}
    for at, (name, case) in enumerate(cases.items()):
        write_files(lake, name, case, tables[name], mor=bool(at % 2))

    def land_all(before: Mapping[str, State], after: Mapping[str, State]) -> None:
        # Tables that are looked up come first, so that a look-back ends before them.
        for of in sorted({of for some in shapes.values() for of in some}, key=lambda of: of == SRC):
            for name in cases:
                if of in shapes[name]:
                    old, new = before.get(name, {}).get(of, {}), after[name][of]
                    become(lake, tables[name][of], shapes[name][of], dict(old), dict(new))

    recompute = Recompute(lake)
    then, now = {n: one[2] for n, one in told.items()}, {n: one[3] for n, one in told.items()}
    for before, after in (({}, then), (then, now)):
        land_all(before, after)
        failed = _run(lake)
        assert failed == {}, f"seed {seed}: {failed}\n{_told(cases, failed)}"
        if after is then:
            assert recompute.differences(cases, tables) == {}, seed
    same = set(cases) - set(recompute.differences(cases, tables))
    words = [f"{example_in_words(told[name][1])}\n{told[name][2:]}\n{_told(cases, [name])}" for name in sorted(same)]
    assert not same, f"seed {seed}: " + "\n".join(words)
