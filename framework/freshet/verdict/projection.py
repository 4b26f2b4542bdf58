"""The columns of a SELECT's result, and which of them groups are made by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from freshet.verdict.columns import Col
from freshet.verdict.names import is_of, key_of
from freshet.verdict.relation import HIDDEN, UNSEEN, Rel, is_tied_key
from freshet.verdict.texts import is_name

Items = Sequence[tuple[str, exp.Expr]]


def starred(item: exp.Expr, star: exp.Star, rel: Rel) -> Iterator[tuple[str, exp.Expr]]:
    """Yield the columns that a star stands for, each with its name; the star itself where they are not known."""
    only = item.table.lower() if isinstance(item, exp.Column) else None
    left_out = {one.name.lower() for one in star.args.get("except_") or ()}
    swallowed = set()
    if only is None:
        # Of what a USING has made one column the other one is not shown.
        swallowed = {
            key for key in rel.cols for name, kept in rel.merged.items() if key.rpartition(".")[2] == name and key != kept
        }
    # These come first.
    first = [key for key in rel.merged.values() if key in rel.cols] if only is None else []
    for key in dict.fromkeys([*first, *rel.cols]):
        alias, _, name = key.rpartition(".")
        shown = only is None or alias == only
        if shown and name not in left_out and key not in swallowed and not alias.startswith(UNSEEN):
            yield name, exp.column(name, alias or None)
    if any(only is None or alias == only for alias in rel.wide):
        yield "*", star


def projected(rel: Rel, cols: Mapping[str, Col], keys: Mapping[str, str | None], node: exp.Select) -> Rel:
    """Return a relation of some columns and expressions of a relation's.

    Args:
        rel: The relation.
        cols: The columns of the result; ``*`` for those of tables whose columns are not known.
        keys: The keys of those that are columns of the relation.
        node: The SELECT.
    """
    stars = [item for item in node.expressions if isinstance(item, exp.Star) or isinstance(item.this, exp.Star)]
    aliases = {alias for item in stars for alias in rel.wide if isinstance(item, exp.Star) or item.table.lower() == alias}
    wide = {alias: tables for alias, tables in rel.wide.items() if alias in aliases}
    names: dict[str, str] = {}
    for name, key in keys.items():
        if key is not None:
            names.setdefault(key, name)
    names |= {
        key: name for one in rel.held for key in one.columns for name in cols if key and is_expression(key, cols[name], rel)
    }
    for alias in wide:
        for one in (*rel.unique, *(frozenset(c for c in h.columns if c is not None) for h in rel.held)):
            names.update({key: key.rpartition(".")[2] for key in one if key.rpartition(".")[0] == alias})
    unique = frozenset(frozenset(names[k] for k in one) for one in rel.unique if all(k in names for k in one))
    held = tuple(replace(h, columns=tuple(c if is_tied_key(c) else names.get(c or "") for c in h.columns)) for h in rel.held)
    tables = tuple(table for some in wide.values() for table in some)
    kept = {name: col for name, col in cols.items() if name != "*"}
    return replace(
        rel,
        cols=kept,
        wide={"": tables} if tables else {},
        merged={},
        unique=unique,
        held=held,
        plain=_plain(rel, kept, keys, wide),
    )


def is_expression(key: str, col: Col, rel: Rel) -> bool:
    """Say whether a column is an expression by which a join narrowed a relation.

    Args:
        key: Key of what narrows it; see ``HIDDEN``.
        col: The column.
        rel: The relation.
    """
    if not key.startswith(HIDDEN) or key not in rel.cols:
        return False
    told = {base for base in rel.cols[key].same if not is_name(base[1])}
    return bool(told) and told <= col.same


def numbered(result: Rel, rel: Rel, items: Items, keys: Mapping[str, str | None]) -> Rel:
    """Return a SELECT's result with what is known of its rows' numbers: no two rows of one window have the same.

    Args:
        result: The result.
        rel: The relation that it is made of.
        items: The columns of the result.
        keys: The keys of those that are columns of the relation.
    """
    names = {key: name for name, key in keys.items() if key is not None}
    unique = set(result.unique)
    for name, item in items:
        window = item.this if isinstance(item, exp.Alias) else item
        if rel.kind != "full" or not isinstance(window, exp.Window) or not isinstance(window.this, exp.RowNumber):
            continue
        by = [key_of(one, rel) for one in window.args.get("partition_by") or ()]
        told = {names.get(key) or (key.rpartition(".")[2] if result.wide else "") if key else "" for key in by}
        if by and window.args.get("alias") is None and all(told):
            unique.add(frozenset([*told, name]))
    return replace(result, unique=frozenset(unique))


def _plain(rel: Rel, cols: Mapping[str, Col], keys: Mapping[str, str | None], wide: Mapping[str, object]) -> str:
    # A table stays one where its columns are handed on under their names.
    same = all(key is not None and key.rpartition(".")[2] == name for name, key in keys.items() if name != "*")
    return rel.plain if same and (cols or wide) and not rel.filtered else ""


def group_keys(group: exp.Group | None, items: Items, rel: Rel) -> tuple[list[str | None], list[str | None]]:
    """Return the columns of a SELECT's groups: by their names in the result, and by their keys in the relation.

    Args:
        group: The GROUP BY; None for a single group.
        items: The columns of the result.
        rel: The relation.
    """
    by_text = {_spelled(one): name for name, one in items}
    names: list[str | None] = []
    keys: list[str | None] = []
    for one in group.expressions if group is not None else ():
        if isinstance(one, exp.Literal) and one.is_int:
            if 0 < int(one.name) <= len(items):
                name, node = items[int(one.name) - 1]
                names.append(name)
                keys.append(key_of(node, rel))
            continue
        key = key_of(one, rel)
        same = [name for name, item in items if key is not None and key_of(item, rel) == key]
        named = isinstance(one, exp.Column) and not is_of(one, rel)
        alias = [name for name, _ in items if named and one.name.lower() == name]
        names.append(next(iter([*same, *alias]), by_text.get(_spelled(one))))
        keys.append(key)
    return names, keys


def _spelled(node: exp.Expr) -> str:
    while isinstance(node, exp.Alias | exp.Paren):
        node = node.this
    return node.sql("spark", normalize=True, comments=False)
