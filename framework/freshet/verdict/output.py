"""The names of the columns that a SQL gives, where its text tells them all."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from freshet.verdict.functions import makes_rows, unknown_in
from freshet.verdict.relation import Rel
from freshet.verdict.result import Output, Renamed
from freshet.verdict.rows import names_of
from freshet.verdict.select import KNOWN
from freshet.verdict.site import Site
from freshet.verdict.steps import odd

# Spark names the columns of these otherwise.
_ONE_COLUMN = (exp.Explode, exp.ExplodeOuter)


def output_of(node: exp.Expr, rel: Rel, site: Site) -> Output | None:
    """Return the names of a query's columns; None where they are not sure.

    Args:
        node: The query.
        rel: What is known of its result.
        site: Its statement.
    """
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.left if isinstance(node, exp.SetOperation) else node.this
    if not isinstance(node, exp.Select) or odd(node, KNOWN):
        return None
    stars = [one for one in node.expressions if isinstance(one if isinstance(one, exp.Star) else _of_column(one), exp.Star)]
    if stars:
        tables = {one.alias_or_name.lower() for one in _read(node)}
        # Of another name it is the fields of a struct.
        sure = all(isinstance(item, exp.Star) or item.table.lower() in tables for item in stars)
        names = None if rel.broken or rel.wide or not sure else tuple(name.rpartition(".")[2] for name in rel.cols)
    else:
        names = _named(node)
    return None if names is None else Output(names=names, renamed=tuple(_without_as(node, site)))


def _of_column(item: exp.Expr) -> object:
    # That of count(*) is no column.
    return item.this if isinstance(item, exp.Column) else None


def _named(node: exp.Select) -> tuple[str, ...] | None:
    names: list[str] = []
    for item in node.expressions:
        if isinstance(item, exp.Aliases):
            names += [one.name.lower() for one in item.expressions]
            continue
        inner = item
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.QueryTransform) or (not item.alias and next(unknown_in(inner), None) is not None):
            return None
        if not item.alias and makes_rows(inner):
            told = names_of(inner)
            if told == ["col"] and type(inner) not in _ONE_COLUMN:
                return None
            names += told
            continue
        # Of count(*) the parser says '*'.
        names.append(inner.alias_or_name.lower().strip("*"))
    return tuple(names)


def _read(node: exp.Select) -> Iterator[exp.Expr]:
    from_ = node.args.get("from_")
    for one in (from_.this if from_ is not None else None, *(join.this for join in node.args.get("joins") or ())):
        if one is not None:
            yield one
            yield from (alias for pivot in one.args.get("pivots") or () if (alias := pivot.args.get("alias")) is not None)
            yield from (join.this for join in one.args.get("joins") or ())
    yield from (alias for one in node.args.get("laterals") or () if (alias := one.args.get("alias")) is not None)


def _without_as(node: exp.Select, site: Site) -> Iterator[Renamed]:
    """Yield the columns with another name behind them, and nothing between the two."""
    for item in node.expressions:
        if not isinstance(item, exp.Alias) or not isinstance(item.this, exp.Column):
            continue
        column, alias = item.this.this, item.args["alias"]
        if (
            "end" in column.meta
            and "start" in alias.meta
            and not site.text[column.meta["end"] + 1 : alias.meta["start"]].strip()
        ):
            line, _ = site.place(item)
            yield Renamed(column=column.name.lower(), alias=alias.name.lower(), file=site.file, line=line)
