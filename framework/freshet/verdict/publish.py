"""Whether what a run publishes makes the target what a recompute would make it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from freshet.project.model.paths import same_place
from freshet.verdict import says
from freshet.verdict.columns import SRC, Col
from freshet.verdict.facts import Question
from freshet.verdict.groups import depends_on
from freshet.verdict.relation import Owed, Rel
from freshet.verdict.result import Finding, Granted, Scope, ScopeColumn
from freshet.verdict.site import Site

_DELETED = "_hoodie_is_deleted"


@dataclass
class Published:
    """A pipeline's result, held against what its target needs.

    Args:
        rel: The result.
        question: What is asked.
        site, node: The statement that gives it.
        granted: Receives what is taken for granted of tables.
        adds: True where Python steps may add columns.
    """

    rel: Rel
    question: Question
    site: Site
    node: exp.Expression
    granted: list[Granted]
    adds: bool

    def findings(self) -> Iterator[Finding]:
        """Yield why the target may differ from a recompute."""
        rel = self.rel
        yield from rel.pending
        if rel.broken:
            return
        overwrites = self.question.spec.operation == "insert_overwrite" and self.question.spec.write.strategy == "rows"
        if overwrites:
            yield from self._overwritten()
        elif rel.kind == "mixed":
            yield from self._mixed(rel.parts)
        elif rel.kind == "full":
            yield self._at(says.group_may_vanish("A group or row"))
            yield from self._owed(rel)
        elif rel.kind == "before":
            yield self._at(says.before_as_data())
        else:
            yield from self._key(rel)
            yield from self._deletes(rel)
            yield from self._owed(rel)
        if not overwrites:
            yield from self._ordering(rel)

    def scope(self) -> Scope:
        """Return the columns of the result by which it falls into pieces."""
        if self.rel.broken:
            return Scope(why_none="the SQL cannot be followed to its tables")
        found = []
        for column in self._target_key():
            col = self.rel.get(column)
            carried = {table: name for table, name in sorted(col.same)} if col is not None else {}
            if carried:
                found.append(ScopeColumn(name=column, carried={("SRC" if t == SRC else t): c for t, c in carried.items()}))
        if not found:
            return Scope(why_none="no column of the record key is handed on from a table as it is")
        return Scope(columns=tuple(found))

    def _at(self, said: says.Said) -> Finding:
        return said.at(self.site, self.node)

    def _target_key(self) -> tuple[str, ...]:
        return tuple(column.lower() for column in self.question.spec.target.record_key)

    def _key(self, rel: Rel) -> Iterator[Finding]:
        key = self._target_key()
        cols = {column: rel.get(column) for column in key}
        for column, col in cols.items():
            if col is None and not self.adds:
                yield self._at(says.not_analysed(f"{column}, a column of the record key that the result does not name,"))
            elif col is not None and (of := depends_on(col, rel)):
                yield self._at(says.key_may_change(column, of))
        held = {text for col in cols.values() if col is not None for text in self._told_apart(col)}
        missing = sorted(rel.unit - held)
        if missing and rel.unit:
            yield self._at(says.keys_may_collide(missing, key))
        apart = [name for name, col in rel.cols.items() if col.fixed and name not in key]
        if apart and not any(col is not None and col.fixed for col in cols.values()):
            yield self._at(says.keys_may_collide(apart, key))
        moving = sorted(text for text in rel.unit if text not in self.question.key_of(SRC))
        if moving and "old" not in rel.seen:
            yield self._at(says.old_group_not_touched(", ".join(moving)))

    @staticmethod
    def _told_apart(col: Col) -> set[str]:
        return {col.text} | {column for table, column in col.keeps if table == SRC}

    def _deletes(self, rel: Rel) -> Iterator[Finding]:
        if not self.question.deletes_pass_on:
            why = "the increment is read without deletes"
            yield self._at(says.deletes_stay(why))
            return
        if self.question.spec.operation == "delete":
            return
        flag = rel.get(_DELETED)
        of_rows = set(self.question.key_of(SRC)) <= rel.unit
        if of_rows:
            if flag is None or not flag.flags:
                yield self._at(says.deletes_stay("the result does not mark it, by _hoodie_is_deleted of <SRC>"))
            return
        found = [rel.outer[number] for number in (flag.absent if flag is not None else ())]
        if not any(one.tables and all(self.question.is_source(table) for table in one.tables) for one in found):
            yield self._at(says.group_may_vanish("A group"))

    def _mixed(self, parts: Sequence[Rel]) -> Iterator[Finding]:
        """All rows of what changed, and the deleted ones."""
        own = set(self.question.key_of(SRC))
        rows = [part for part in parts if part.kind == "full"]
        gone = [part for part in parts if part.kind == "delta" and part.only_dead]
        whole = len(rows) == 1 and len(rows) + len(gone) == len(parts) and bool(gone) and bool(own)
        key = self._target_key()
        if whole:
            (one,) = rows
            cols = [one.get(column) for column in key]
            named = {base[1] for col in cols if col is not None and (base := col.bare) and self.question.is_source(base[0])}
            whole = named == own and not one.filtered and len(key) == len(own)
            whole = whole and all(self.question.is_source(table) for table in one.tables)
            whole = whole and all(h.images >= {"new"} for h in one.held)
            marks = [part.get(_DELETED) for part in gone]
            whole = whole and all(mark is not None and (mark.flags or mark.constant.upper() == "TRUE") for mark in marks)
            keyed = [{col.text for c in key if (col := part.get(c)) is not None} for part in gone]
            whole = whole and all(found == own for found in keyed)
        if not whole:
            yield self._at(says.not_analysed("a union of changed rows with rows of other tables"))
            return
        moving = sorted({text for h in rows[0].held for texts in h.texts for text in texts} - own)
        if moving and not all("old" in h.images for h in rows[0].held):
            yield self._at(says.old_group_not_touched(", ".join(moving)))
        if not self.question.deletes_pass_on:
            yield self._at(says.deletes_stay("the increment is read without deletes"))

    def _overwritten(self) -> Iterator[Finding]:
        rel = self.rel
        by = {column.lower() for column in self.question.spec.target.partition_by}
        narrowed = [held for held in rel.held if held.by == "partition" and set(held.columns) <= by]
        if rel.kind != "full" or not narrowed or len(narrowed) != len(rel.held):
            yield self._at(
                says.simple(
                    "OVERWRITES_WITH_PART",
                    "insert_overwrite replaces whole partitions, and the result holds only the rows that changed, or part of them.",
                    "Read the source's table with affected_partitions as an input, and publish its rows.",
                    example=says.Example(
                        table=SRC,
                        change="update",
                        recompute="holds the partition's other rows",
                        target="has lost the rows of the partition that did not change",
                    ),
                )
            )
            return
        yield from self._owed(rel)
        yield self._at(
            says.simple(
                "PARTITION_MAY_EMPTY",
                "A partition of which no row is left is not in the result, and is not replaced.",
                "Use upsert with _hoodie_is_deleted; or accept it where no partition is ever emptied.",
                example=says.Example(
                    table=SRC, change="delete", recompute="has no row in the partition", target="keeps the partition's rows"
                ),
            )
        )

    def _ordering(self, rel: Rel) -> Iterator[Finding]:
        spec = self.question.spec
        column = (spec.write.ordering or spec.target.ordering_field).lower()
        if not column:
            return
        for part in rel.parts or (rel,):
            col = part.get(column)
            if col is not None and col.instant:
                continue
            known = self.question.of(SRC).ordering.lower()
            of_rows = set(self.question.key_of(SRC)) <= part.unit and part.kind == "delta"
            if col is not None and of_rows and col.rises is not None and col.rises[0] == SRC:
                if col.rises[1] == known:
                    continue
                if not known and col.bare is not None:
                    self.granted.append(Granted(table="SRC", fact="ordering", columns=(col.rises[1],)))
                    continue
            if col is None and self.adds:
                yield self._at(says.not_analysed(f"the ordering field {column}, which a Python step makes,"))
                continue
            yield self._at(says.ordering_may_go_back(column, col, known))
            return

    def _owed(self, rel: Rel) -> Iterator[Finding]:
        owed = list(rel.owed)
        line, column = self.site.place(self.node)
        if rel.kind == "full":
            for table in sorted(rel.tables):
                links = {
                    (base[1], text)
                    for held in rel.held
                    for key, texts in zip(held.columns, held.texts, strict=True)
                    if key is not None and (col := rel.get(key)) is not None
                    for base in col.same
                    for text in texts
                    if base[0] == table
                }
                owed.append(Owed(table=table, links=frozenset(links), file=self.site.file, line=line, column=column))
        told = set()
        for one in owed:
            if one.table in told or self._covered(one, rel):
                continue
            told.add(one.table)
            said = says.input_does_not_drive(one)
            yield Finding(
                code=said.code,
                file=one.file,
                line=one.line,
                column=one.column,
                message=said.message,
                hint=said.hint,
                subject=said.subject,
                example=said.example,
            )

    def _covered(self, owed: Owed, rel: Rel) -> bool:
        question = self.question
        if owed.table in rel.images:
            return True
        if question.is_source(owed.table):
            units = rel.unit or {text for held in rel.held for texts in held.texts for text in texts}
            if units and all((text, text) in owed.links for text in units):
                return True
            if owed.table == SRC:
                return bool(units) and all(any(text == told for _, told in owed.links) for text in units)
        one = question.inputs.get(owed.table)
        if one is None:
            return False
        drivers = (d for d in question.spec.inputs if d.drives and same_place(d.table.path) == same_place(one.table.path))
        return any(all((c.lower(), x.lower()) in owed.links for c, x in driver.drives) for driver in drivers)
