"""What a query's FROM names: tables, views, lists of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from freshet.verdict import says, says_joins
from freshet.verdict.columns import SRC, Col, of_list, of_table
from freshet.verdict.functions import volatile_in
from freshet.verdict.literals import all_apart
from freshet.verdict.question import Question
from freshet.verdict.relation import Held, Rel
from freshet.verdict.site import Site
from freshet.verdict.texts import text_of
from freshet.verdict.unions import new_list

_OF_TABLE = {"this", "db", "catalog", "alias", "joins", "laterals", "hints"}


def table(node: exp.Table, views: Mapping[str, Rel], question: Question, site: Site) -> Rel:
    """Return what is known of a table's rows, joins that hang on it left out.

    Args:
        node: The table.
        views: What names mean, besides the pipeline's inputs.
        question: What is asked.
        site: The statement.
    """
    name = ".".join(part.name for part in node.parts).lower()
    if isinstance(node.this, exp.Func):
        return not_known(node, f"the table function {node.this.sql('spark')[:40]}", site)
    odd = [clause for clause, told in node.args.items() if told and clause not in _OF_TABLE]
    if odd:
        return not_known(node, f"a table with {odd[0].upper()}", site)
    if name in views:
        return views[name]
    one = question.inputs.get(name)
    if one is None:
        return not_known(node, f"the table {name}, which is no input,", site)
    facts, image = question.of(name), one.as_of == "checkpoint" and question.is_source(name)
    key = question.key_of(name)
    sure = {column.lower() for column in (*key, *(facts.never_null or ()))}
    cols = {
        c: of_table(name, c, image_of_source=image, sure=c in sure, moment=facts.is_moment(c))
        for c in (column.lower() for column in facts.columns)
    }
    held: tuple[Held, ...] = ()
    if one.read == "affected_partitions":
        texts = tuple(frozenset(text_of(text) for text in texts) for _, texts in one.on)
        # The commits themselves name the partitions of the source's own table that they wrote.
        own = question.is_source(name) and all(column.lower() in some for (column, _), some in zip(one.on, texts, strict=True))
        both = own or all(question.stays(text) for some in texts for text in some)
        held = (
            Held(
                columns=tuple(column.lower() for column, _ in one.on),
                texts=texts,
                images=frozenset(["new", "old"] if both else ["new"]),
                by="partition",
                tables=frozenset([SRC]),
            ),
        )
    if one.read == "incremental":
        site.found.append(says_joins.lookback_is_bounded(name, one.lookback_seconds / 3600).at(site, node))
    return Rel(
        kind="before" if image else "full",
        cols=cols,
        wide={} if cols else {"": (name,)},
        images=frozenset([name]) if image else frozenset(),
        tables=frozenset([name]),
        held=held,
        unique=frozenset([frozenset(key)]) if key else frozenset(),
        plain=name,
    )


def source(question: Question) -> Rel:
    """Return what is known of the main source's increment."""
    key = question.key_of(SRC)
    facts = question.of(SRC)
    sure = {column.lower() for column in (*key, *(facts.never_null or ()))}
    cols = {
        c: of_table(SRC, c, sure=c in sure, moment=facts.is_moment(c)) for c in (column.lower() for column in facts.columns)
    }
    if cols and question.deletes_pass_on:
        cols.setdefault("_hoodie_is_deleted", of_table(SRC, "_hoodie_is_deleted"))
    return Rel(
        kind="delta",
        cols=cols,
        wide={} if cols else {"": (SRC,)},
        tables=frozenset([SRC]),
        unit=frozenset(key),
        seen=frozenset(["new"]),
        unique=frozenset([frozenset(key)]) if key else frozenset(),
        places=question.places if question.deletes_pass_on else frozenset(),
        dead=question.deletes_pass_on,
        twice=question.deletes_pass_on and question.rows_may_move is True,
        perhaps=question.deletes_pass_on and question.rows_may_move is None,
    )


def listed(node: exp.Values, site: Site) -> Rel:
    """Return what is known of a list of values."""
    alias = node.args.get("alias")
    names = [one.name.lower() for one in alias.args.get("columns") or ()] if alias else []
    rows = [one.expressions if isinstance(one, exp.Tuple) else [one] for one in node.expressions]
    if len({len(row) for row in rows}) != 1 or any(value.find(exp.Column, exp.Query) for row in rows for value in row):
        return not_known(node, "this list of values", site)
    for value, name in (found for row in rows for one in row for found in volatile_in(one)):
        site.found.append(says.not_deterministic(name).at(site, value))
    names = names or [f"col{number}" for number in range(1, len(rows[0]) + 1)]
    cols, unique, number = {}, set(), new_list()
    for at, name in enumerate(names[: len(rows[0])]):
        values = frozenset(row[at].sql("spark") for row in rows)
        apart = len(values) == len(rows) and (len(rows) == 1 or all_apart(values))
        of = frozenset([of_list(number)])
        cols[name] = Col(of=of, fixed=number if apart else 0, among=values if apart else frozenset())
        unique |= {frozenset([name])} if apart else set()
    return Rel(cols=cols, unique=frozenset(unique | ({frozenset()} if len(rows) == 1 else set())))


def not_known(node: exp.Expr, what: str, site: Site) -> Rel:
    """Return a relation of which nothing is known, and say so."""
    site.stop(says.not_analysed(what).at(site, node))
    return Rel(kind="delta", broken=True)


def renamed(rel: Rel, columns: Sequence[str]) -> Rel:
    """Return a relation whose columns have been given names, in their order."""
    if not columns or rel.broken:
        return rel
    if len(columns) != len(rel.cols) or rel.wide:
        # Whose names are whose is not known: none is.
        return replace(
            rel,
            cols={name: Col(of=rel.of_rows | _all(rel)) for name in columns},
            wide={},
            unique=frozenset(),
            held=(tuple(replace(h, columns=tuple(None for _ in h.columns)) for h in rel.held)),
        )
    names = dict(zip(rel.cols, columns, strict=True))
    return replace(
        rel,
        cols={names[key]: col for key, col in rel.cols.items()},
        unique=frozenset(frozenset(names[k] for k in one) for one in rel.unique if one <= set(names)),
        held=tuple(replace(h, columns=tuple(names.get(c) if c is not None else None for c in h.columns)) for h in rel.held),
    )


def _all(rel: Rel) -> frozenset[tuple[str, str]]:
    return frozenset((name, "*") for name in rel.tables)
