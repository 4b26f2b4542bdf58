"""Drawn pipelines on real tables: what is called exact equals a recompute after every run, an example of what is not differs.

``tests/unit/verdict`` draws thousands in a model. Here they are files of a project, and Hudi has their tables. The exact ones
share these: a hundred histories stand side by side, each with keys and groups of its own. Falls under it: filters, joins of up
to three inputs by snapshot, affected partitions and look-back, aggregates of the groups that were touched, windows, unions,
fan-out; on COPY_ON_WRITE and MERGE_ON_READ. Rows are inserted, updated to and from what is kept, deleted, moved between
partitions and groups, inserted again, written again as they were; news in several tables in one window, in one alone, in none;
a commit that has begun before a run, and completed after it; a commit of nothing.

An example of a change is made concrete in the model: the rows of its tables before and after. These are landed, with a run
between them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from itertools import zip_longest
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from pyspark.sql import DataFrame

from freshet.project.syntax.statements import INSTANT_PLACE
from freshet.verdict.describe import example_in_words
from freshet.verdict.result import Example
from tests.kit.frames import frame
from tests.kit.lake import Lake
from tests.kit.project import ACCEPTS
from tests.kit.spared import NO_CODEGEN
from tests.kit.whole import WHOLE
from tests.unit.verdict.case import Case, Table
from tests.unit.verdict.drawn import real_pipelines
from tests.unit.verdict.model import FLAG, SRC, NotModelled, concrete

Row = dict[str, Any]
Rows = dict[Any, Row]
WORLD = 8
_SOURCES = {True: "raw.rows", False: "raw.flat"}
_EMPTIED = {"PARTITION_MAY_EMPTY"}
#: Told by the settings of a run, or by time: no change of rows shows them here.
_NOT_OF_ROWS = {"NOT_DETERMINISTIC", "STARTS_AT_LATEST"}


def _drawn(number: int, count: int) -> list[Case]:
    found: dict[str, Case] = {}

    @seed(number)
    @settings(
        max_examples=count, deadline=None, database=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
    )
    @given(case=real_pipelines())
    def draw(case: Case) -> None:
        # Of a group of null there is no row in a table.
        if "a" not in case.target.key:
            found[case.text] = case

    draw()
    return list(found.values())


def _some_of_each(cases: Iterable[Case], count: int) -> list[Case]:
    """Return some of every kind, those that read most first."""
    kinds: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda one: -len(one.inputs)):
        kinds.setdefault(case.head["of"], []).append(case)
    # Of joins and of groups there is most to tell.
    order = (
        "_of_real_rows",
        "_of_groups",
        "_of_owned",
        "_of_partitions",
        "_of_versions",
        "_of_groups",
        "_of_union",
        "_of_real_rows",
    )
    turns = [iter(kinds.get(kind, ())) for kind in order]
    found = [next(turn, None) for _ in range(count) for turn in turns]
    return list({case.text: case for case in found if case is not None}.values())[:count]


# --- files ----------------------------------------------------------------------------------------------------------


def _write(lake: Lake, name: str, case: Case, tables: Mapping[str, str], *, mor: bool) -> None:
    """Write a drawn pipeline as a project has it; ``tables`` are the names of those that its tables are here."""
    types = {"_hoodie_is_deleted": "BOOLEAN", "at": "BIGINT NOT NULL"}
    key, partition = case.target.key, case.target.partition
    place = f" PARTITIONED BY ({', '.join(partition)})" if partition else ""
    codes = {one.code for one in case.verdict.findings}
    kept = "accepts: [{code: PARTITION_MAY_EMPTY, why: no day of so many histories is ever empty}]\n"
    top = [kept if codes == _EMPTIED else ACCEPTS] if codes else []
    if write := case.head.get("write"):
        top.append(f"write: {{strategy: {write['strategy']}, columns: [{', '.join(write['columns'])}]}}\n")
    more = [("write.operation", case.spec.operation), ("query.incremental.format", case.head.get("format"))]
    columns = ", ".join(f"{c} {types.get(c, 'BIGINT NOT NULL' if c in key else 'BIGINT')}" for c in case.target.columns)
    lake.write_file(f"transformers/{name}.sql", case.text)
    lake.write_file(
        f"ddl/{name}.sql",
        f"CREATE TABLE derived.{name} ({columns})\nUSING hudi{place}\n"
        f"TBLPROPERTIES (primaryKey = '{','.join(key)}', preCombineField = 'at', type = '{'mor' if mor else 'cow'}')\n",
    )
    inputs = []
    for one in case.spec.inputs:
        told = [f"table: {tables[case.table_of(one.name)]}", f"read: {one.read}"]
        told += [f"drives: {{{', '.join(f'{c}: {x}' for c, x in one.drives)}}}"] if one.drives else []
        told += [f"on: {{{', '.join(f'{c}: [{chr(44).join(x)}]' for c, x in one.on)}}}"] if one.on else []
        told += ["as_of: checkpoint"] if one.as_of == "checkpoint" else []
        told += ["lookback: 1s"] if one.read == "incremental" and not one.drives else []
        inputs.append(f"  {one.name}: {{{', '.join(told)}}}\n")
    lake.write_file(
        f"pipelines/{name}.yml",
        f"ddl: ddl/{name}.sql\ntransform: transformers/{name}.sql\n{'inputs:' if inputs else ''}\n{''.join(inputs + top)}"
        f'hoodie:\n  hoodie.streamer.source.hoodieincr.path: "{lake.path(tables[SRC])}"\n'
        "  hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: READ_UPTO_LATEST_COMMIT\n"
        + "".join(f"  hoodie.datasource.{key}: {value}\n" for key, value in more if value),
    )


# --- tables ---------------------------------------------------------------------------------------------------------


def _land(lake: Lake, table: str, shape: Table, rows: Sequence[Row], operation: str = "upsert") -> None:
    if not rows:
        return
    keys = "Nonpartitioned" if not shape.partition else "Complex" if len(shape.key) > 1 else "Simple"
    lake.land(
        [tuple(row[column] for column in shape.columns) for row in rows],
        operation,
        table,
        ", ".join(f"{column} bigint" for column in shape.columns),
        **{
            "hoodie.table.cdc.enabled": "true",
            "hoodie.datasource.write.recordkey.field": ",".join(shape.key),
            "hoodie.datasource.write.precombine.field": shape.ordering,
            "hoodie.datasource.write.partitionpath.field": ",".join(shape.partition),
            "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{keys}KeyGenerator",
        },
    )


def _become(lake: Lake, table: str, shape: Table, before: Rows, after: Rows) -> None:
    """Land what makes of a table's rows other ones: a commit of deletes, and one of the rest."""

    def place(row: Row) -> list[Any]:
        return [row[column] for column in shape.partition]

    gone = [row for key, row in before.items() if key not in after or place(after[key]) != place(row)]
    _land(lake, table, shape, gone, "delete")
    _land(lake, table, shape, [row for key, row in after.items() if before.get(key) != row])


class Worlds:
    """Tables that many pipelines share, with a history in each range of eight numbers."""

    def __init__(self, lake: Lake, shapes: Mapping[str, Table], chance: random.Random, count: int, sources: set[str]) -> None:
        self.lake, self.shapes, self.chance, self.count, self.clock = lake, shapes, chance, count, 0
        self.rows: dict[str, Rows] = {name: {} for name in shapes}
        flat = Table.of("id* g a v day updated_at^")
        own = [(table, shapes[SRC] if table == _SOURCES[True] else flat) for table in sorted(sources)]
        self.tables = {name: own if name == SRC else [(f"raw.{name}", shape)] for name, shape in shapes.items()}

    def begin(self) -> None:
        new = {name: dict(rows) for name, rows in self.rows.items()}
        for name in new:
            for world in range(self.count):
                for key in (1, 2, 3):
                    self._put(new, name, world, key)
        self._go(new)

    def change(self, tables: Sequence[str]) -> None:
        """Change a few rows of some of these tables in every history."""
        new = {name: dict(rows) for name, rows in self.rows.items()}
        for world in range(self.count):
            for name in self.chance.sample(list(tables), self.chance.choice((1, 1, min(2, len(tables))))):
                for key in self.chance.sample((1, 2, 3, 4), self.chance.choice((1, 2))):
                    kept = new[name].get(world * WORLD + key)
                    if kept is not None and self.chance.random() < 0.3:
                        del new[name][world * WORLD + key]
                    elif kept is not None and self.chance.random() < 0.1:
                        # Written again as it was.
                        new[name][world * WORLD + key] = {**kept, "updated_at": self._tick()}
                    else:
                        self._put(new, name, world, key)
        self._go(new)

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _put(self, new: dict[str, Rows], name: str, world: int, key: int) -> None:
        shape, base, of = self.shapes[name], world * WORLD, self.chance
        values = {"g": base + of.choice((1, 2)), "a": of.choice((base + 1, base + 2, base + 3, None)), "day": of.choice((1, 2))}
        small = of.choice((0, 1, 2, 5, None))
        row = {column: values.get(column, small) for column in shape.columns}
        new[name][base + key] = {**row, shape.key[0]: base + key, shape.ordering: self._tick()}

    def _go(self, new: dict[str, Rows]) -> None:
        for name, tables in self.tables.items():
            for table, shape in tables:
                _become(self.lake, table, shape, self.rows[name], new[name])
        self.rows = new


def _hidden(lake: Lake, table: str) -> tuple[Path, Path]:
    """Take away that a table's newest commit has completed."""
    last = lake.state(table).commits[-1]
    place = Path(lake.path(table)) / f".hoodie/timeline/{last.requested}_{last.completed}.{last.action}"
    return place.rename(lake.root / place.name), place


def _completed(held: tuple[Path, Path]) -> None:
    """Let a commit complete now."""
    where, place = held
    began, _, action = place.name.replace("_", ".").split(".")
    now = datetime.now(timezone.utc).strftime("%Y%m%d%H%M%S%f")[:17]
    where.rename(place.with_name(f"{began}_{now}.{action}"))


# --- what is compared -----------------------------------------------------------------------------------------------


class Recompute:
    """What the drawn SQL makes of the tables as they are, in a session that compiles no query."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.spark = lake, lake.spark.newSession()
        for key, value in NO_CODEGEN.items():
            self.spark.conf.set(key, value)
        self.read: dict[str, DataFrame] = {}

    def differences(self, cases: Mapping[str, Case], tables: Mapping[str, Mapping[str, str]]) -> dict[str, list[Any]]:
        """Return, by pipeline, the rows that a target has and a recompute lacks, and the other way around."""
        self.read.clear()
        found = {}
        for name, case in cases.items():
            columns = [column for column in case.target.columns if column not in ("at", FLAG)]
            there, made = self._rows(f"derived.{name}", columns), self._made(case, tables[name], columns)
            if write := case.head.get("write"):
                # A row whose owned columns are null is one that this pipeline has deleted.
                owned = [columns.index(column) for column in write["columns"]]
                there, made = (
                    Counter({r: n for r, n in x.items() if any(r[i] is not None for i in owned)}) for x in (there, made)
                )
            if there != made:
                found[name] = [("surplus", *(there - made)), ("missing", *(made - there))]
        return found

    def _made(self, case: Case, tables: Mapping[str, str], columns: Sequence[str]) -> Counter[Any]:
        for view, of in {SRC: SRC, **{one: case.table_of(one) for one in case.inputs}}.items():
            rows = self._table(tables[of])
            rows = rows.where("false") if view in case.inputs and case.inputs[view].get("as_of") else rows
            (rows.selectExpr("*", f"false AS {FLAG}") if view == SRC else rows).createOrReplaceTempView(view)
        texts = [statement.text for step in case.spec.transform for statement in step.statements]
        made = [self.spark.sql(text.replace(INSTANT_PLACE, "0")) for text in texts][-1]
        kept = [*columns, "at", *([FLAG] if FLAG in made.columns else [])]
        best: dict[Any, tuple[Any, ...]] = {}
        for row in made.select(*kept).collect():
            key = tuple(row[column] for column in case.target.key)
            order = (not (FLAG in kept and row[FLAG]), row["at"])
            if key not in best or order > best[key][0]:
                best[key] = order, tuple(row[column] for column in columns)
        return Counter(row for (lives, _), row in best.values() if lives)

    def _rows(self, table: str, columns: Sequence[str]) -> Counter[Any]:
        found = self.spark.read.format("hudi").load(self.lake.path(table))
        return Counter(map(tuple, found.select(*columns).collect()))

    def _table(self, table: str) -> DataFrame:
        """Return a table's rows as they are, read once for all that ask."""
        if table not in self.read:
            found = self.spark.read.format("hudi").load(self.lake.path(table))
            columns = [column for column in found.columns if not column.startswith("_hoodie_")]
            rows = found.select(*columns).collect()
            self.read[table] = frame(self.spark, rows, ", ".join(f"{column} bigint" for column in columns))
        return self.read[table]


def _told(cases: Mapping[str, Case], names: Iterable[str]) -> str:
    return "\n\n".join(f"{name}: {cases[name].head}\n{cases[name].text}" for name in names)


def _run(lake: Lake) -> dict[str, str]:
    return {name: str(one.error) for name, one in lake.run_all().items() if one.error}


# --- exact ----------------------------------------------------------------------------------------------------------


def _follow(lake: Lake, cases: Mapping[str, Case], number: int, worlds: int, steps: Sequence[str]) -> None:
    shapes = {SRC: Table.of("id* g a v day/ updated_at^")}
    tables = {}
    for case in cases.values():
        shapes |= {of: case.input_table(one) for one in case.inputs if (of := case.table_of(one)) != SRC}
    for at, (name, case) in enumerate(cases.items()):
        tables[name] = {SRC: _SOURCES[bool(case.source.partition)], **{of: f"raw.{of}" for of in shapes if of != SRC}}
        _write(lake, name, case, tables[name], mor=bool(at % 2))
    made = Worlds(lake, shapes, random.Random(number), worlds, {one[SRC] for one in tables.values()})
    made.begin()
    held: list[tuple[Path, Path]] = []
    recompute = Recompute(lake)
    for step in ("first", *steps):
        others = [name for name in shapes if name != SRC]
        if step == "late":
            made.change([*shapes, SRC])
            # Its deletes, where there are any, are a commit of their own.
            held = [_hidden(lake, f"raw.{others[0]}")] if others else []
        elif step == "nothing":
            for table, shape in made.tables[SRC]:
                _land(lake, table, shape, [{**dict.fromkeys(shape.columns, 1), "id": 10**9}], "delete")
        elif step != "first":
            made.change(others or [SRC] if step == "others" else [*shapes, SRC])
        failed = _run(lake)
        assert failed == {}, f"seed {number}, step {step}: {failed}\n{_told(cases, failed)}"
        # A first run reads the whole source: that it makes what a recompute does is left to the night.
        found = recompute.differences(cases, tables) if WHOLE or step != "first" else {}
        assert found == {}, f"seed {number}, step {step}: {found}\n{_told(cases, found)}"
        for one in held:
            _completed(one)
        held = []


def _exact(number: int, drawn: int, count: int, tables: set[str] | None = None) -> dict[str, Case]:
    # Of more than a hundred histories none empties a day.
    exact = [case for case in _drawn(number, drawn) if {one.code for one in case.verdict.findings} <= _EMPTIED]
    if tables:
        exact = [case for case in exact if not case.source.partition and {case.table_of(one) for one in case.inputs} <= tables]
    return {f"p{at}": case for at, case in enumerate(_some_of_each(exact, count))}


def test_drawn_pipelines_equal_their_recompute(lake: Lake) -> None:
    """The slice of every day, of two tables: the test of the night has more of them, and more happens."""
    _follow(lake, _exact(1, 40, 2, {SRC, "d"}), number=1, worlds=30, steps=("all",))


def test_a_thousand_histories_of_drawn_pipelines(lake: Lake) -> None:
    number = random.SystemRandom().randrange(10**6)
    cases = _exact(number, 300, 8)
    assert {case.head["of"] for case in cases.values()} >= {"_of_real_rows", "_of_groups"}, number
    _follow(lake, cases, number, worlds=130, steps=("all", "late", "others", "nothing"))


# --- inexact --------------------------------------------------------------------------------------------------------

State = Mapping[str, Mapping[Any, Row]]


def _examples(number: int, drawn: int, count: int) -> Iterator[tuple[Case, Example, State, State]]:
    """Yield examples of changes, each with the rows before and after, the rarest codes first."""
    by_code: dict[str, list[tuple[Case, Example]]] = {}
    for case in _drawn(number, drawn):
        for one in case.verdict.findings:
            if one.example is not None and one.code not in _NOT_OF_ROWS and one.example.change != "run":
                by_code.setdefault(one.code, []).append((case, one.example))
    used: set[str] = set()
    turns = zip_longest(*(by_code[code] for code in sorted(by_code, key=lambda code: len(by_code[code]))))
    for case, example in (one for turn in turns for one in turn if one is not None):
        if case.text in used or len(used) == count or case.head.get("write"):
            continue
        try:
            found = next((states for n in range(60) if (states := concrete(case, example, number + n)) is not None), None)
        except NotModelled:
            continue
        if found is not None:
            used.add(case.text)
            yield case, example, *found


def test_the_examples_of_drawn_pipelines_make_a_difference(lake: Lake) -> None:
    """Each pipeline has tables of its own, as the example has them before, and then after."""
    # Else a look-back goes a day further, as nobody knows in which zone the commits are named.
    lake.land_options |= {"hoodie.table.timeline.timezone": "UTC"}
    number = random.SystemRandom().randrange(10**6)
    told = {f"p{at}": one for at, one in enumerate(_examples(number, 250, 6))}
    cases = {name: case for name, (case, *_) in told.items()}
    tables = {
        name: {of: f"raw.{of.lower()}_{name}" for of in (SRC, *(case.table_of(i) for i in case.inputs))}
        for name, case in cases.items()
    }
    shapes = {
        name: {SRC: case.source, **{of: case.input_table(i) for i in case.inputs if (of := case.table_of(i)) != SRC}}
        for name, case in cases.items()
    }
    for name, case in cases.items():
        _write(lake, name, case, tables[name], mor=False)

    def land(before: Mapping[str, State], after: Mapping[str, State]) -> None:
        # Tables that are looked up come first, so that a look-back ends before them.
        for of in sorted({of for some in shapes.values() for of in some}, key=lambda of: of == SRC):
            for name in cases:
                if of in shapes[name]:
                    own, old, new = shapes[name][of], before.get(name, {}).get(of, {}), after[name][of]
                    _become(lake, tables[name][of], own, dict(old), dict(new))

    recompute = Recompute(lake)
    then, now = {n: one[2] for n, one in told.items()}, {n: one[3] for n, one in told.items()}
    for before, after in (({}, then), (then, now)):
        land(before, after)
        failed = _run(lake)
        assert failed == {}, f"seed {number}: {failed}\n{_told(cases, failed)}"
        if after is then:
            assert recompute.differences(cases, tables) == {}, number
    same = set(cases) - set(recompute.differences(cases, tables))
    words = [f"{example_in_words(told[name][1])}\n{told[name][2:]}\n{_told(cases, [name])}" for name in sorted(same)]
    assert not same, f"seed {number}: " + "\n".join(words)
