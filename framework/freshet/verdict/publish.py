"""Whether what a run publishes makes the target what a recompute would make it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from freshet.project.model.records import RecordsSpec
from freshet.verdict import says, says_target
from freshet.verdict.apart import assumed, lost_moments, told_apart
from freshet.verdict.columns import INSTANT, ROWS, SRC, Col
from freshet.verdict.groups import depends_on
from freshet.verdict.owed import drives_missing
from freshet.verdict.question import Question
from freshet.verdict.relation import Looked, Rel
from freshet.verdict.result import Finding, Granted, Scope, ScopeColumn
from freshet.verdict.site import Site
from freshet.verdict.texts import is_name
from freshet.verdict.topics import orders_records
from freshet.verdict.versions import of_versions

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
    node: exp.Expr
    granted: list[Granted]
    adds: bool

    def findings(self) -> Iterator[Finding]:
        """Yield why the target may differ from a recompute."""
        rel = self.rel
        yield from (self._as_published(one) for one in rel.pending)
        if rel.broken:
            if not self.question.deletes_pass_on and self.question.spec.operation == "upsert":
                yield self._at(says_target.deletes_not_read(self.question.deletes_not_recorded))
            return
        if rel.assumed:
            self.granted.append(Granted(table=says.SHOWN, fact="rows_stay", columns=self.question.key_of(SRC)))
        overwrites = self.question.spec.operation == "insert_overwrite" and self.question.spec.write.strategy == "rows"
        if overwrites:
            yield from self._overwritten()
        elif rel.kind == "mixed":
            yield from of_versions(rel, self.question, self.site, self.node)
        elif rel.kind == "full":
            yield self._at(says_target.group_may_vanish("A group or row"))
            if not self.question.deletes_pass_on:
                # Nor does the delete name the group, whose other rows are counted as before.
                yield self._at(replace(says_target.deletes_not_read(self.question.deletes_not_recorded), example=None))
            yield from drives_missing(rel, self.question, self.site, self.node)
        elif rel.kind == "before":
            yield self._at(says.before_as_data())
        else:
            yield from self._key(rel)
            yield from self._deletes(rel)
            for found in drives_missing(rel, self.question, self.site, self.node):
                # Rows of the source that write one row of the target bring each other.
                shared = self.question.is_source(found.subject.lower()) and not self._by_key(rel)
                yield replace(found, example=None) if shared else found
        if not overwrites:
            yield from self._ordering(rel)
        yield from self._instants(rel)

    def _instants(self, rel: Rel) -> Iterator[Finding]:
        """Yield what a run's time decides; a column that is that time alone says when its row was computed."""
        ordering = (self.question.spec.write.ordering or self.question.spec.target.ordering_field).lower()
        named = {column.name.lower() for column in self.question.spec.target.columns}
        for name, col in rel.cols.items():
            asked = {base for base in col.of if base[0] == INSTANT}
            more = {base for base in col.of - asked if base[1] != ROWS}
            if asked and name in named and name != ordering and (more or name == _DELETED):
                yield self._at(replace(says.not_deterministic(says.SHOWN_INSTANT), subject=name, example=None))

    def _as_published(self, found: Finding) -> Finding:
        """Return a finding; of rows that one row finds without an example where all of them write one row of the target."""
        cols = [self.rel.get(column) for column in self._target_key()]
        tables = {table.removesuffix("()") for col in cols if col is not None for table, _ in col.of}
        return replace(found, example=None) if found.code == "FAN_OUT" and found.subject not in tables else found

    def not_asked(self) -> tuple[str, ...]:
        """Return what is not asked of a result of whose rows nothing is known, in words."""
        spec, key = self.question.spec, ", ".join(self._target_key())
        deletes = self.question.deletes_pass_on and spec.operation == "upsert"
        drivers = ", ".join(dict.fromkeys(one.table.name for one in spec.inputs))
        ordering = spec.write.ordering or spec.target.ordering_field
        asked = (
            "whether rows that were published drop out of the result",
            f"whether the record key ({key}) follows from the source's" if key else "",
            "whether the rows that the source deletes leave the target" if deletes else "",
            f"whether a change in {drivers} reaches the rows that it is joined to" if drivers else "",
            f"whether {ordering} never goes back" if ordering else "",
        )
        return tuple(filter(None, asked))

    def scope(self) -> Scope:
        """Return the columns of the result by which it falls into pieces."""
        if self.rel.broken:
            return Scope(why_none="the SQL cannot be followed to its tables")
        found = []
        for column in self._target_key():
            col = self.rel.get(column)
            carried = {table: name for table, name in sorted(col.same) if is_name(name)} if col is not None else {}
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
                yield self._at(says_target.key_may_change(column, of, self._keys()))
        held = {text for col in cols.values() if col is not None for text in told_apart(col, self.question)}
        missing = sorted(rel.unit - held)
        if missing and rel.unit:
            said = says_target.keys_may_collide(missing, key)
            if lost := lost_moments(cols.values(), self.question) & set(missing):
                said = says_target.moments_may_collide(sorted(lost), key, self.question.zone)
            yield self._at(said if self._told_twice(rel, held) and not lost else replace(said, example=None))
        self.granted += assumed(cols.values(), rel.unit, self.question)
        loose = rel.several - {col.fixed for col in cols.values() if col is not None}
        if loose:
            names = [name for name, col in rel.cols.items() if col.fixed in loose] or ["a list of constants"]
            yield self._at(says_target.keys_may_collide(names, key))
        moving = sorted(rel.unit - set(self.question.key_of(SRC)))
        if moving and "old" not in rel.seen and not all(self.question.stays(text) for text in moving):
            yield self._at(says_target.old_group_not_touched(moving))
        if "old" in rel.seen and ("new" not in rel.seen or any(self._of_image(col) for col in rel.cols.values())):
            yield self._at(says_target.only_old_rows())

    def _keys(self) -> set[tuple[str, str]]:
        tables = {table for col in self.rel.cols.values() for table, _ in col.of}
        return {(table, column) for table in tables for column in self.question.key_of(table)}

    def _told_twice(self, rel: Rel, texts: set[str]) -> bool:
        """Say whether two rows of one record key may differ: by a column of the source that does not name them."""
        spec = self.question.spec
        aside = {_DELETED, spec.target.ordering_field.lower(), *self._target_key()}
        named = {(SRC, text) for text in texts}
        return any(
            table == SRC and (table, c) not in named
            for name, col in rel.cols.items()
            if name not in aside
            for table, c in col.of
        )

    def _of_image(self, col: Col) -> bool:
        own = {column for table, column in col.of if table == SRC}
        return bool(own - self.rel.unit) and col.text not in self.rel.unit

    def _by_key(self, rel: Rel) -> bool:
        cols = [rel.get(column) for column in self._target_key()]
        return rel.unit <= {text for col in cols if col is not None for text in told_apart(col, self.question)}

    def _deletes(self, rel: Rel) -> Iterator[Finding]:
        if self.question.spec.operation == "delete":
            return
        if not self.question.deletes_pass_on:
            yield self._at(says_target.deletes_not_read(self.question.deletes_not_recorded))
            return
        flag = rel.get(_DELETED)
        of_rows = set(self.question.key_of(SRC)) <= rel.unit
        if of_rows:
            if flag is None or not flag.flags:
                said = says_target.deletes_stay("the result does not mark it, by _hoodie_is_deleted of <SRC>")
                yield self._at(said if self._by_key(rel) else replace(said, example=None))
            return
        found = [rel.outer[number] for number in (flag.absent if flag is not None else ())]
        if not any(self._tells_of_group(one) for one in found):
            yield self._at(says_target.group_may_vanish("A group"))

    def _tells_of_group(self, one: Looked) -> bool:
        """Say whether a join finds something exactly where the source has a row of the group."""
        linked = {text for (table, column), text in one.links if self.question.is_source(table) and column == text}
        # A value of the source's own column that is found is one of its rows', whatever else has a part in it.
        own = all(self.question.is_source(table) for table in one.tables)
        own = own or (not one.nulls and all(is_name(column) for (_, column), _ in one.links))
        return bool(one.tables) and own and linked == self.rel.unit and len(one.links) == len(linked)

    def _overwritten(self) -> Iterator[Finding]:
        rel = self.rel
        by = {column.lower() for column in self.question.spec.target.partition_by}
        narrowed = [held for held in rel.held if held.by == "partition" and set(held.columns) <= by]
        if rel.kind != "full" or not narrowed or len(narrowed) != len(rel.held):
            yield self._at(says_target.overwrites_with_part())
            return
        yield from drives_missing(rel, self.question, self.site, self.node)
        moving = sorted({text for held in rel.held for text in held.told if "old" not in held.images})
        if moving:
            yield self._at(says_target.old_group_not_touched(moving))
        if not any(one <= set(self._target_key()) for one in rel.unique):
            yield self._at(says.not_analysed("several rows that one record key may have"))
        yield self._at(says_target.partition_may_empty())

    def _ordering(self, rel: Rel) -> Iterator[Finding]:
        spec = self.question.spec
        column = (spec.write.ordering or spec.target.ordering_field).lower()
        if not column:
            return
        told = [col for part in rel.parts if (col := part.get(column)) is not None]
        if len({(col.instant, col.constant) for col in told}) > 1:
            # Rows of one key that come from two sides of the union are not ordered by what happened.
            yield self._at(replace(says_target.ordering_may_go_back(column, None, "", of_rows=False), example=None))
            return
        for part in rel.parts or (rel,):
            col = part.get(column)
            # Of a table one row has each key; of records several may have it in one run, and one value orders none of them.
            one_row = not isinstance(spec.source, RecordsSpec)
            if one_row and col is not None and (col.instant or (col.constant and "NULL" not in col.constant.upper())):
                continue
            known = self.question.of(SRC).ordering.lower()
            of_rows = set(self.question.key_of(SRC)) <= part.unit and part.kind == "delta"
            if col is not None and of_rows and col.rises is not None and col.rises[0] == SRC:
                if col.rises[1] == known:
                    continue
                if not known and col.bare is not None:
                    self.granted.append(Granted(table="SRC", fact="ordering", columns=(col.rises[1],)))
                    continue
            if of_rows and (ordered := orders_records(spec, col)):
                self.granted.append(Granted(table="SRC", fact="ordering", columns=ordered))
                continue
            if col is None and self.adds:
                yield self._at(says.not_analysed(f"the ordering field {column}, which a Python step makes,"))
                continue
            yield self._at(says_target.ordering_may_go_back(column, col, known, of_rows))
            return
