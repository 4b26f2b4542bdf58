"""A pipeline's checks: names, severities and rules, held against the target's columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from freshet.problems import Problems
from freshet.project.model.checks import (
    CheckSpec,
    MalformedRule,
    ReferenceRule,
    RowRule,
    Rule,
    SuiteRule,
    UniqueRule,
)
from freshet.project.model.pipeline import TableSpec
from freshet.project.model.steps import Operation, WriteStrategy
from freshet.project.rules.check_rules import Reading, rule_of
from freshet.project.rules.expectation_names import catalogue
from freshet.project.shape.checks import RULES, Check, limit_of
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.types.from_json import DELETE_MARK

_QUARANTINE = "_quarantine_"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}")
_DROPS = (RowRule, MalformedRule, UniqueRule, ReferenceRule, SuiteRule)


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
    reading = Reading(
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
            if not any(getattr(check, key) is not None for key in RULES):
                # It has run into the name.
                continue
        if any(other.name.lower() == check.name.lower() for other in found):
            reading.add("DUPLICATE_CHECK", "another check has this name.", "Rename one of them.")
        rule = rule_of(check, reading)
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


def _severity(check: Check, rule: Rule, reading: Reading) -> None:
    by_row = isinstance(rule, _DROPS) and not (isinstance(rule, UniqueRule) and rule.within == "table")
    if check.severity == "drop" and not by_row:
        reading.add(
            "CONFLICTING_SETTING", "it speaks of no single row that could be dropped.", "Write 'severity: fail' or 'warn'."
        )
    whole = (
        [
            str(expectation["type"])
            for expectation in rule.expectations
            if catalogue()[str(expectation["type"])].kind == "aggregate"
        ]
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


def _deletes(check: Check, reading: Reading) -> None:
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
