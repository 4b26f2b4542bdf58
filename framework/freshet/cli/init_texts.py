"""The texts of a new pipeline's files that follow from its columns and keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from freshet.cli.init_source import Beginning
from freshet.hudi.options import IS_DELETED
from freshet.problems import Problems
from freshet.project.syntax.column_text import quoted_name
from freshet.project.syntax.ddl import parse_ddl
from freshet.types.columns import Array, Atomic, Column, DataType, Decimal, Map, Struct

_FORMS = {"hour": ("%Y-%m-%d-%H", "yyyy-MM-dd-HH"), "day": ("%Y-%m-%d", "yyyy-MM-dd"), "month": ("%Y-%m", "yyyy-MM")}
_MOMENT = datetime(2026, 1, 5, 10)
# YAML 1.1 has other values for these.
_WORDS_OF_YAML = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}
_DELETED_IN_SQL = {
    "example": "-- A table that `freshet land` made has it, and any that keeps change data. Of another one, take it out here "
    "and there.",
    "table": "-- True of a row that was deleted in the source.",
    "ddl": "-- True of a row that was deleted in the source.",
}


def marks_of(beginning: Beginning, name: str) -> dict[str, str]:
    """Return what stands in a template's places.

    Args:
        beginning: The columns and keys.
        name: The pipeline.
    """
    quoted = _quoted([column.name for column in beginning.columns])
    return {
        "@COLUMNS@": _ddl_columns(beginning, quoted),
        "@PARTITIONED@": _partitioned(beginning, quoted),
        "@PROPERTIES@": _properties(beginning),
        "@SELECT@": _select(beginning, quoted),
        "@PROMISE@": _promise(beginning),
        "@ACCEPTS@": _accepts(beginning),
        "@BACKFILL@": _backfill(beginning, name),
        "@CASES@": _cases(beginning, quoted),
    }


def in_sql(name: str) -> str:
    """Return a table's or a column's name as a DDL has it: a word of SQL in backticks."""
    return _quoted([name])[name]


def _quoted(names: Sequence[str]) -> dict[str, str]:
    plain = {name: name for name in names}
    return plain if _parses(names) else {name: name if _parses([name]) else quoted_name(name) for name in names}


def _parses(names: Sequence[str]) -> bool:
    problems = Problems()
    parse_ddl(f"CREATE TABLE derived.{names[0]} ({', '.join(f'{name} BOOLEAN' for name in names)}) USING hudi", "", problems)
    return not problems.found


def _ddl_columns(beginning: Beginning, quoted: dict[str, str]) -> str:
    alone = len(beginning.record_key) == 1
    roles = dict.fromkeys(beginning.record_key, "record key" if alone else "part of the record key")
    form = f", {_FORMS[beginning.granularity][1]}" if beginning.granularity else ""
    for name in beginning.partition_by:
        roles[name] = f"{roles[name]}; partition{form}" if name in roles else f"partition{form}"
    one = beginning.record_key[0] if alone else "key"
    if beginning.ordering:
        told = f"ordering field: of two rows of one {one} the newer wins"
        roles[beginning.ordering] = f"{roles[beginning.ordering]}; {told}" if beginning.ordering in roles else told
    widest = max(len(quoted[c.name]) for c in beginning.columns if c.name != IS_DELETED)
    lines = []
    for column in beginning.columns:
        comment = roles.get(column.name, "")
        needed = " NOT NULL" if comment and column.name != IS_DELETED else ""
        if column.name == IS_DELETED and not comment:
            comment = "true takes the row out: it was deleted in the source"
        said = f" COMMENT '{comment}'" if comment else ""
        lines.append(f"  {quoted[column.name].ljust(widest)} {_type(column.type)}{needed}{said}")
    return ",\n".join(lines)


def _type(kind: DataType) -> str:
    # Names of fields keep their case.
    return str(kind).upper() if isinstance(kind, Atomic | Decimal) else str(kind)


def _partitioned(beginning: Beginning, quoted: dict[str, str]) -> str:
    columns = ", ".join(quoted[name] for name in beginning.partition_by)
    return f"PARTITIONED BY ({columns})\n" if columns else ""


def _properties(beginning: Beginning) -> str:
    found = {"primaryKey": ",".join(beginning.record_key), "preCombineField": beginning.ordering, "type": "cow"}
    return ", ".join(f"{key} = '{value}'" for key, value in found.items() if value)


def _select(beginning: Beginning, quoted: dict[str, str]) -> str:
    lines: list[str] = []
    for number, column in enumerate(beginning.columns, 1):
        if column.name == IS_DELETED:
            lines.append(_DELETED_IN_SQL[beginning.of])
        lines.append(quoted[column.name] + "," * (number < len(beginning.columns)))
    return "\n       ".join(lines)


def _promise(beginning: Beginning) -> str:
    if set(beginning.partition_by) <= set(beginning.record_key):
        return ""
    return (
        "# The promise that a record key never changes its partition, which a bucket index needs on a partitioned table.\n"
        "partition_is_stable: true\n\n"
    )


def _accepts(beginning: Beginning) -> str:
    if beginning.keeps_changes and any(column.name == IS_DELETED for column in beginning.columns):
        return ""
    return (
        "# What makes the table differ from a recompute, and is accepted; freshet explain says more of it.\n"
        "accepts:\n"
        "  - {code: DELETES_STAY, why: The source does not say which rows it deletes.}\n\n"
    )


def _backfill(beginning: Beginning, name: str) -> str:
    if not beginning.granularity:
        return (
            "# What computes a range of dates again, as after a change of the SQL, by a column of the source:\n"
            "# backfill: {event_time: happened_at}\n"
        )
    (partition,) = beginning.partition_by
    column, what = _in_yaml(partition), f"{beginning.granularity}s"
    start, end = ("2026-01-01", "2026-03-01") if beginning.granularity == "month" else ("2026-01-05", "2026-01-16")
    return (
        f"# What computes {what} again, as after a change of the SQL: freshet backfill {name} --start {start} --end {end}\n"
        f"backfill: {{event_time: {column}, partition: {column}, granularity: {beginning.granularity}, write: upsert}}\n"
    )


def _cases(beginning: Beginning, quoted: dict[str, str]) -> str:
    """Return the declared source and the cases: a row that goes through, and a deleted one."""
    schema = ", ".join(f"{quoted[column.name]} {column.type}" for column in beginning.columns)
    lines = ["tables:", "  SRC:", f'    schema: "{schema}"']
    lines += [f"    key: {_listed(beginning.record_key)}"] * bool(beginning.record_key)
    lines += [f"    ordering: {_in_yaml(beginning.ordering)}"] * bool(beginning.ordering)
    values = {c.name: value for c in beginning.columns if c.name != IS_DELETED and (value := _value(c, beginning))}
    located = {*beginning.record_key, *beginning.partition_by}
    untold = {name: value for name, value in values.items() if name != beginning.ordering or name in located}
    lines += ["", "cases:", *_case("a_row_goes_through", values, untold or values)]
    if any(column.name == IS_DELETED for column in beginning.columns):
        gone = {name: value for name, value in values.items() if name in (*located, beginning.ordering)} | {IS_DELETED: "true"}
        keys = {name: value for name, value in values.items() if name in beginning.record_key} | {IS_DELETED: "true"}
        lines += ["", *_case("a_deleted_row_is_passed_on", gone, keys)]
    return "\n".join(lines)


def _case(name: str, given: dict[str, str], expected: dict[str, str]) -> list[str]:
    return [
        f"  {name}:",
        "    given:",
        "      SRC:",
        f"        - {_row(given)}",
        "    expect:",
        "      rows:",
        f"        - {_row(expected)}",
    ]


def _row(values: dict[str, str]) -> str:
    return f"{{{', '.join(f'{_in_yaml(name)}: {value}' for name, value in values.items())}}}"


def _listed(names: Iterable[str]) -> str:
    found = [_in_yaml(name) for name in names]
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


def _in_yaml(name: str) -> str:
    return f'"{name}"' if name.lower() in _WORDS_OF_YAML else name


def _value(column: Column, beginning: Beginning) -> str:
    """Return a value of a column as YAML has it; empty for one that a reader had better think of."""
    if column.name in beginning.partition_by and beginning.granularity:
        return f'"{_MOMENT.strftime(_FORMS[beginning.granularity][0])}"'
    match column.type:
        case Decimal(precision, scale):
            whole = "12"[: precision - scale] or "0"
            return f"{whole}.{'50'.ljust(scale, '0')[:scale]}" if scale else whole
        case Atomic("string"):
            return f"{column.name[0].lower()}1"
        case Atomic("date"):
            return f'"{_MOMENT:%Y-%m-%d}"'
        case Atomic("timestamp"):
            return f'"{_MOMENT:%Y-%m-%d %H:%M:%S}"'
        case Atomic("boolean"):
            return "true"
        case Atomic("float" | "double"):
            return "1.5"
        case Atomic("binary") | Array() | Map() | Struct():
            return ""
    return "1"
