"""What a name in an expression means: a column of a relation, a field of it, or ``<SRC_INSTANT>``."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from freshet.verdict.columns import INSTANT, Col, computed, instant, unknown
from freshet.verdict.relation import Rel
from freshet.verdict.texts import is_name

_OF_HUDI = {
    *("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"),
    "_hoodie_operation",
}
_OF_SPARK = "_metadata"


def resolve(node: exp.Column, rel: Rel) -> list[str]:
    """Return the keys of a relation's columns that a name may mean; one where it is clear."""
    name = node.name.lower()
    parts = [part.name.lower() for part in node.parts]
    if len(parts) > 1:
        # A field of a struct is written as a column of a table is.
        for at in range(len(parts) - 1):
            key = f"{parts[at]}.{parts[at + 1]}"
            if rel.get(key) is not None:
                return [key]
        return rel.keys_of(parts[0])
    return rel.keys_of(name)


def is_of(node: exp.Column, rel: Rel) -> bool:
    """Say whether a name means a column of a relation."""
    return is_instant(node) or any(rel.get(key) is not None for key in resolve(node, rel))


def is_of_hudi(node: exp.Column, rel: Rel) -> bool:
    """Say whether a name means one of the columns that Hudi or Spark adds to a table, and not a column of that name."""
    name = node.name.lower()
    if rel.broken:
        return False
    if any(part.name.lower() == _OF_SPARK for part in node.parts):
        return not any(key.rpartition(".")[2] == _OF_SPARK for key in rel.cols)
    found = [col for key in resolve(node, rel) if (col := rel.get(key)) is not None]
    return name in _OF_HUDI and all(col.bare is not None and col.bare[1] == name for col in found)


def is_instant(node: exp.Expr) -> bool:
    """Say whether a node is ``<SRC_INSTANT>``."""
    return isinstance(node, exp.Column) and node.name.lower() == INSTANT and not node.table


def column_of(node: exp.Column, rel: Rel) -> Col:
    """Return what is known of a column that an expression names."""
    if is_instant(node):
        return instant()
    keys = resolve(node, rel)
    found = [col for key in keys if (col := rel.get(key)) is not None]
    if not found:
        return unknown(node.name.lower())
    if len(found) > 1:
        return computed(found)
    field = _field(node, keys[0])
    if not field:
        return found[0]
    # A field of an expression over a table's row is one, too.
    same = frozenset((table, ".".join([name, *field])) for table, name in found[0].same if not is_name(name))
    return replace(computed(found, ".".join([found[0].text, *field]) if found[0].text else ""), same=same)


def key_of(node: exp.Expr, rel: Rel) -> str | None:
    """Return the key of the column that an expression is, or None for one that is more."""
    while isinstance(node, exp.Alias | exp.Paren):
        node = node.this
    if not isinstance(node, exp.Column) or is_instant(node):
        return None
    found = [key for key in resolve(node, rel) if rel.get(key) is not None]
    return found[0] if len(found) == 1 and not _field(node, found[0]) else None


def _field(node: exp.Column, key: str) -> list[str]:
    """Return what stands behind a column's name: a field of a struct."""
    parts = [part.name.lower() for part in node.parts]
    alias, _, name = key.rpartition(".")
    for at in range(len(parts) - 1):
        if parts[at : at + 2] == [alias, name]:
            return parts[at + 2 :]
    return parts[parts.index(name) + 1 :] if name in parts else []
