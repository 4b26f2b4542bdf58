"""A value of one type as that of a column, as texts of Spark SQL: nothing is rounded, cut or replaced in silence.

What may be written into what is ``freshet.types.columns.fit``'s rule, which here reaches into lists, maps and structs: each
value within is held to it, and fields are found by their exact names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from freshet.types.columns import Array, Atomic, DataType, Fit, Map, Struct, fit

_TEXT = Atomic("string")


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """How a value becomes that of a column.

    Args:
        value: The column's value.
        misfit: Condition, never null, that a value does not fit; empty where every one does.
        narrows: True where a value of the type may be more than the column holds.
    """

    value: str
    misfit: str = ""
    narrows: bool = False


def fitted(place: str, found: DataType, wanted: DataType, depth: int = 0) -> Fitted:
    """Return how a value becomes that of a column.

    Args:
        place: The value, as SQL that is cheap to repeat.
        found: Its type.
        wanted: The column's.
        depth: How many lists and maps it stands within.

    Raises:
        ValueError: No value of the type can be one of the column, or some would lose something.
    """
    match found, wanted:
        case Struct(fields), Struct(columns):
            return _struct(place, dict(fields), columns, depth)
        case Array(element), Array(item):
            return _array(place, f"x{depth}", fitted(f"x{depth}", element, item, depth + 1))
        case Map(Atomic("string"), element), Map(Atomic("string"), item):
            return _map(place, f"k{depth}", f"x{depth}", fitted(f"x{depth}", element, item, depth + 1))
    if found == _TEXT == wanted:
        return Fitted(value=place, misfit=_no_text(place))
    match fit(found, wanted):
        case Fit.SAME:
            return Fitted(value=place)
        case Fit.WIDENS:
            return Fitted(value=f"CAST({place} AS {wanted})")
        case Fit.CHECKED:
            tried = f"try_cast({place} AS {wanted})"
            return Fitted(value=tried, misfit=f"({place} IS NOT NULL AND {tried} IS NULL)", narrows=True)
    raise ValueError(f"{found} in the records cannot be {wanted}")


def any_of(conditions: list[str]) -> str:
    """Return a condition that one of several holds; empty for none."""
    return f"({' OR '.join(conditions)})" if len(conditions) > 1 else "".join(conditions)


def _no_text(place: str) -> str:
    # Spark takes any bytes for a text, and who writes them would replace what is none.
    data = f"CAST({place} AS BINARY)"
    return f"(NOT encode(decode({data}, 'UTF-8'), 'UTF-8') <=> {data})"


def _struct(place: str, have: Mapping[str, DataType], columns: Sequence[tuple[str, DataType]], depth: int) -> Fitted:
    parts, misfits, narrows, same = [], [], False, list(have) == [name for name, _ in columns]
    if not any(name in have for name, _ in columns):
        raise ValueError(f"none of its fields {', '.join(name for name, _ in columns)} is in the records")
    for name, kind in columns:
        if name not in have:
            near = next((one for one in have if one.lower() == name.lower()), "")
            if near:
                raise ValueError(f"'{near}' in the records and '{name}' differ in case")
            parts.append(f"{_quoted(name)}, CAST(NULL AS {kind})")
            continue
        inner = f"{place}.`{name}`"
        one = fitted(inner, have[name], kind, depth)
        parts.append(f"{_quoted(name)}, {one.value}")
        misfits += [one.misfit] if one.misfit else []
        narrows |= one.narrows
        same = same and one.value == inner
    value = place if same else f"CASE WHEN {place} IS NOT NULL THEN named_struct({', '.join(parts)}) END"
    return Fitted(value=value, misfit=any_of(misfits), narrows=narrows)


def _array(place: str, name: str, one: Fitted) -> Fitted:
    value = place if one.value == name else f"transform({place}, {name} -> {one.value})"
    return Fitted(value=value, misfit=_exists(place, name, one.misfit), narrows=one.narrows)


def _map(place: str, key: str, name: str, one: Fitted) -> Fitted:
    value = place if one.value == name else f"transform_values({place}, ({key}, {name}) -> {one.value})"
    keys = _exists(f"map_keys({place})", key, _no_text(key))
    values = _exists(f"map_values({place})", name, one.misfit)
    return Fitted(value=value, misfit=any_of([part for part in (keys, values) if part]), narrows=one.narrows)


def _quoted(name: str) -> str:
    text = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def _exists(place: str, name: str, condition: str) -> str:
    return f"coalesce(exists({place}, {name} -> {condition}), false)" if condition else ""
