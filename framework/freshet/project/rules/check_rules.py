"""What one check says, as a rule: the one key that says it, held against the target's columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from freshet.problems import Problems, did_you_mean
from freshet.project.model.checks import (
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
from freshet.project.model.pipeline import TableSpec
from freshet.project.model.steps import Operation, WriteStrategy
from freshet.project.rules.expectation_names import check_names, parsed, suite_of
from freshet.project.rules.source import table_by_name
from freshet.project.shape.checks import RULES, Check, Compared, share_of
from freshet.project.shape.strategies import seconds_of
from freshet.project.syntax.files import Place, ProjectFiles

TABLE_MARK = "<TABLE_NAME>"
_OF = {"expect": "sql", "scope": "sql", "within": "unique"}
_META = re.compile(r"_hoodie_(?!is_deleted)\w+")


@dataclass(kw_only=True)
class Reading:
    """The check that is being read, and what it is held against."""

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


def rule_of(check: Check, reading: Reading) -> Rule | None:
    """Return what a check says, as a rule; None where it says nothing that holds, which is reported."""
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


def _sql(check: Check, query: str, reading: Reading) -> SqlRule | None:
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


def _suite(check: Check, reading: Reading) -> SuiteRule | None:
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
