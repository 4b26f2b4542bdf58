"""A pipeline's checks: names, severities and rules, held against the target's columns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from freshet.problems import Problems, did_you_mean
from freshet.project.model.checks import (
    CheckSpec,
    FreshnessRule,
    MalformedRule,
    ReferenceRule,
    RowRule,
    Rule,
    SqlRule,
    SuiteRule,
    UniqueRule,
    VolumeRule,
)
from freshet.project.model.pipeline import Operation, TableSpec, WriteStrategy
from freshet.project.rules.expectation_names import catalogue, check_names, parsed, suite_of
from freshet.project.rules.source import table_by_name
from freshet.project.shape.checks import RULES, Check, Compared, limit_of, share_of
from freshet.project.shape.strategies import seconds_of
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.types.from_json import DELETE_MARK

TABLE_MARK = "<TABLE_NAME>"
_QUARANTINE = "_quarantine_"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}")
_DROPS = (RowRule, MalformedRule, UniqueRule, ReferenceRule, SuiteRule)
_OF = {"expect": "sql", "scope": "sql", "within": "unique"}
_META = re.compile(r"_hoodie_(?!is_deleted)\w+")


@dataclass(kw_only=True)
class _Reading:
    table: TableSpec
    files: ProjectFiles
    targets: Mapping[str, str]
    warehouse: Mapping[str, str]
    problems: Problems
    operation: Operation
    strategy: WriteStrategy
    at: Place = field(default_factory=lambda: Place("", 0))
    name: str = ""

    def add(self, code: str, said: str, hint: str) -> None:
        self.problems.add(self.at.file, self.at.line, code, f"checks.{self.name}: {said}", hint)

    def columns(self, names: Sequence[str]) -> Iterator[str]:
        known = {c.name.lower(): c.name for c in self.table.columns}
        for name in names:
            found = known.get(name.lower())
            if found is None:
                self.add(
                    "UNKNOWN_COLUMN", f"{self.table.file} has no column '{name[:80]}'.", did_you_mean(name, known.values())
                )
            else:
                yield found


def read_checks(
    declared: Sequence[Check],
    table: TableSpec,
    files: ProjectFiles,
    targets: Mapping[str, str],
    warehouse: Mapping[str, str],
    place_of: Callable[..., Place],
    problems: Problems,
    operation: Operation = "upsert",
    strategy: WriteStrategy = "rows",
) -> tuple[CheckSpec, ...]:
    """Check the checks.

    Args:
        declared: As the YAML has them.
        table: The target.
        files: The project's files, for suites.
        targets: Paths of the project's own tables, by name.
        warehouse: Root path of each database.
        place_of: Gives the place of a path of keys.
        problems: Receives what is wrong.
        operation: Hudi's write operation.
        strategy: How the batch reaches the target.
    """
    found: list[CheckSpec] = []
    taken = next((c.name for c in table.columns if c.name.lower().startswith(_QUARANTINE)), "")
    reading = _Reading(
        table=table,
        files=files,
        targets=targets,
        warehouse=warehouse,
        problems=problems,
        operation=operation,
        strategy=strategy,
    )
    for number, check in enumerate(declared):
        reading.at, reading.name = place_of("checks", str(number)), check.name[:80]
        if not _PLAIN.fullmatch(check.name):
            reading.add("BAD_NAME", "a name has letters, digits, '_', '.' and '-', a letter first, at most 80.", "Rename it.")
        if any(other.name.lower() == check.name.lower() for other in found):
            reading.add("DUPLICATE_CHECK", "another check has this name.", "Rename one of them.")
        rule = _rule(check, reading)
        if rule is None:
            continue
        if isinstance(rule, MalformedRule) and any(isinstance(other.rule, MalformedRule) for other in found):
            reading.add("DUPLICATE_CHECK", "another check has 'malformed', too.", "Remove one of them.")
        _severity(check, rule, reading)
        if check.severity == "drop" and taken:
            reading.add(
                "RESERVED_COLUMN",
                f"the quarantine has a column of its own for '{taken}' of {table.file}.",
                "Rename the column.",
            )
        most_rows, most_share = limit_of(check.limit)
        found.append(
            CheckSpec(
                name=check.name,
                severity=check.severity,
                line=reading.at.line,
                rule=rule,
                most_rows=most_rows,
                most_share=most_share,
                deletes=check.on_drop == "delete",
            )
        )
    return tuple(found)


def _severity(check: Check, rule: Rule, reading: _Reading) -> None:
    by_row = isinstance(rule, _DROPS) and not (isinstance(rule, UniqueRule) and rule.within == "table")
    if check.severity == "drop" and not by_row:
        reading.add(
            "CONFLICTING_SETTING", "it speaks of no single row that could be dropped.", "Write 'severity: fail' or 'warn'."
        )
    whole = (
        [str(one["type"]) for one in rule.expectations if catalogue()[str(one["type"])].kind == "aggregate"]
        if isinstance(rule, SuiteRule)
        else []
    )
    if check.severity == "drop" and whole:
        reading.add(
            "CONFLICTING_SETTING",
            f"{', '.join(whole[:3])} speaks of the whole batch, and drops no row of it.",
            "Write it as a check of its own, with 'severity: fail' or 'warn'.",
        )
    if check.severity == "warn" and isinstance(rule, MalformedRule):
        reading.add(
            "CONFLICTING_SETTING",
            "a row that the table cannot hold cannot be published with a warning.",
            "Write 'severity: drop' or 'fail'.",
        )
    if check.limit is not None and check.severity != "drop":
        reading.add("CONFLICTING_SETTING", "limit goes with severity: drop.", "Remove it, or write 'severity: drop'.")
    if check.on_drop == "delete":
        _deletes(check, reading)


def _deletes(check: Check, reading: _Reading) -> None:
    """Refuse to delete the older row of a dropped one where no delete can be right."""
    refused = ""
    if check.severity != "drop":
        reading.add("CONFLICTING_SETTING", "on_drop goes with severity: drop.", "Remove it, or write 'severity: drop'.")
    elif reading.strategy != "rows":
        refused = (
            f"by the strategy {reading.strategy} a row of the batch is a part of the target's: one that is dropped says "
            "nothing of the other columns, which would go too"
        )
    elif reading.operation == "insert_overwrite":
        refused = "insert_overwrite replaces whole partitions: the older row of a dropped one goes with its partition anyway"
    elif reading.operation == "insert":
        refused = "an insert changes no row that stands"
    elif reading.operation == "delete":
        refused = "by the operation delete a dropped row is one that was not to be deleted"
    elif all(c.name != DELETE_MARK for c in reading.table.columns):
        reading.add(
            "CONFLICTING_SETTING",
            f"on_drop: delete deletes by a row with {DELETE_MARK}, and {reading.table.file} has no such column.",
            f"Add `{DELETE_MARK} BOOLEAN` to the DDL and select it (false where nothing deletes).",
        )
    if refused:
        reading.add("CONFLICTING_SETTING", f"on_drop: delete cannot be: {refused}.", "Remove it: the older row is kept.")


def _rule(check: Check, reading: _Reading) -> Rule | None:
    given = [key for key in RULES if getattr(check, key) is not None]
    if len(given) != 1:
        said = f"it has {' and '.join(given)}." if given else "it says nothing to check."
        reading.add("BAD_CHECK", said, f"Write exactly one of: {', '.join(RULES)}.")
        return None
    for key, owner in _OF.items():
        if key in check.model_fields_set and owner not in given:
            reading.add("CONFLICTING_SETTING", f"{key} goes with {owner}.", f"Remove {key}.")
    if check.sql is not None:
        return _sql(check, check.sql, reading)
    if check.where is not None:
        return RowRule(check.where)
    if check.malformed is not None:
        return MalformedRule()
    if check.unique is not None:
        return UniqueRule(tuple(reading.columns(check.unique)), check.within or "batch")
    if check.references is not None:
        ours = tuple(reading.columns(tuple(check.references.columns)))
        named = reading.problems
        table = table_by_name(check.references.table, reading.at, reading.targets, reading.warehouse, named)
        theirs = tuple(check.references.columns.values())
        return ReferenceRule(table.name, table.path, tuple(zip(ours, theirs, strict=False))) if table else None
    if check.freshness is not None:
        columns = tuple(reading.columns((check.freshness.column,)))
        kinds = {str(c.type) for c in reading.table.columns if c.name in columns}
        if kinds - {"timestamp", "timestamp_ntz", "date"}:
            reading.add(
                "BAD_VALUE",
                f"{columns[0]} is {', '.join(kinds)}, and freshness needs a timestamp or a date.",
                "Name a column of time.",
            )
        return FreshnessRule(columns[0], seconds_of(check.freshness.within) or 0) if columns else None
    if check.volume is not None:
        if check.volume.at_least is None and check.volume.at_most is None:
            reading.add("MISSING_KEY", "volume has no bound.", "Write 'at_least: 50%', 'at_most: 300%', or both.")
        return VolumeRule(check.volume.last, share_of(check.volume.at_least), share_of(check.volume.at_most))
    return _suite(check, reading)


def _sql(check: Check, query: str, reading: _Reading) -> SqlRule | None:
    text = query.strip().rstrip(";").strip()
    if TABLE_MARK not in text:
        reading.add(
            "BAD_CHECK", f"the query does not name {TABLE_MARK}.", f"Write 'select count(*) from {TABLE_MARK} where ...'."
        )
        return None
    if _META.search(text):
        reading.add(
            "NOT_SUPPORTED",
            "the query names a column of Hudi's own, which a row has only once it is committed.",
            "Name columns of the DDL.",
        )
    if "expect" not in check.model_fields_set:
        reading.add(
            "MISSING_KEY",
            "expect is missing: what the query must give.",
            "Write 'expect: 0', or 'expect: {result: unchanged}'.",
        )
        return None
    scope = check.scope or "partitions"
    if isinstance(check.expect, Compared):
        if scope == "batch":
            reading.add("CONFLICTING_SETTING", "a batch has no before.", "Write 'scope: partitions' or 'scope: table'.")
        return SqlRule(query=text, expect="", compare=check.expect.result, scope=scope)
    return SqlRule(query=text, expect=_literal(check.expect), compare="", scope=scope)


def _literal(value: bool | int | float | str | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, float) and not math.isfinite(value):
        return f"double('{value}')"
    # A number with a point is an exact decimal to Spark, so that 0.1 is 0.1.
    return repr(value)


def _suite(check: Check, reading: _Reading) -> SuiteRule | None:
    if check.suite is not None:
        text = reading.files.read(check.suite, reading.at, "suite", reading.problems)
        if text is None:
            return None
        try:
            expectations: list[dict[str, object]] = suite_of(text)
        except ValueError as error:
            reading.add("BAD_SUITE", f"{check.suite}: {error}.", "Export it anew from Great Expectations.")
            return None
    else:
        expectations = list(check.expectations or ())
    wrong = check_names(expectations)
    for number, said, hint in wrong:
        reading.add("BAD_EXPECTATION", f"expectation {number + 1}: {said}", hint)
    if wrong:
        return None
    return SuiteRule(tuple({"type": name, "kwargs": given} for name, given in map(parsed, expectations)))
