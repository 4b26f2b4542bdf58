"""What checks that drop rows make of the target: it is to be what a recompute would publish, without the rows it would drop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sqlglot
from sqlglot.dialects.spark import Spark

from freshet.project.model.checks import CheckSpec, ReferenceRule, RowRule, SuiteRule, UniqueRule
from freshet.project.model.pipeline import PipelineSpec
from freshet.verdict.functions import volatile_in
from freshet.verdict.question import Question
from freshet.verdict.result import Example, Finding
from freshet.verdict.says import SHOWN
from freshet.verdict.texts import columns_of

# Expectations by which other rows of the batch decide about a row: by being the same, and by a mean or a quantile of all.
_DOUBLES = ("expect_column_values_to_be_unique", "expect_compound_columns_to_be_unique")
_OF_FIGURES = ("expect_column_value_z_scores_to_be_less_than", "expect_column_values_to_not_be_outliers")
_COLUMNS = ("column", "column_A", "column_B", "column_list")
# Columns of which nobody knows.
_ANY = frozenset("?")


def of_checks(question: Question) -> Iterator[Finding]:
    """Yield why the target may differ from a recompute by the rows that checks drop.

    Args:
        question: What is asked.
    """
    spec = question.spec
    for check in spec.checks:
        if check.severity != "drop":
            continue
        if isinstance(check.rule, ReferenceRule):
            yield _other_table(spec, check, check.rule)
        if isinstance(check.rule, RowRule) and (name := _volatile(check.rule.where)):
            yield _finding(
                spec,
                check,
                "NOT_DETERMINISTIC",
                f"The check {check.name} drops rows by {name}, which is another value in another run.",
                "Compare with a column of the row, or with a constant.",
            )
        batch = _seen_together(check, _located(spec))
        if batch:
            yield _finding(
                spec,
                check,
                "CHECK_SEES_BATCH",
                f"The check {check.name} compares the rows of one batch ({batch}): rows that come with different runs do not "
                "meet, and a recompute has all of them in one batch.",
                "Look for them in the whole table, by 'within: table' or 'sql' with 'severity: fail' or 'warn'; or accept it.",
                Example(
                    table=SHOWN,
                    change="insert",
                    recompute="drops what it finds among all rows",
                    target="holds what no single batch showed",
                ),
            )
        if not check.deletes and _changes_rows(spec) and not _columns(check) <= _located(spec):
            yield _older(spec, check)


def _older(spec: PipelineSpec, check: CheckSpec) -> Finding:
    parts = spec.write.strategy != "rows"
    instead = "" if parts else "Write 'on_drop: delete', which takes the older row out with the same commit; or "
    return _finding(
        spec,
        check,
        "OLDER_ROW_STAYS",
        f"Where the check {check.name} drops a row, the older one of its key stays published: a recompute holds neither.",
        f"{instead}{'accept' if instead else 'Accept'} it where an older row is better than none.",
        Example(
            table=SHOWN,
            change="update",
            recompute="holds no row, as the check drops the new one",
            target="keeps the row as it was before",
        ),
    )


def _other_table(spec: PipelineSpec, check: CheckSpec, rule: ReferenceRule) -> Finding:
    return Finding(
        code="INPUT_DOES_NOT_DRIVE",
        file=spec.file,
        line=check.line,
        message=f"The check {check.name} looks into {rule.table}, of which a change brings no row into the run: what was "
        "dropped stays in the quarantine though it is found there now, and what was published stays though it is found no "
        "more.",
        hint=f"Write 'severity: warn'; or accept it, of {rule.table}, and replay the quarantine after each change of it.",
        subject=rule.table,
    )


def _finding(
    spec: PipelineSpec, check: CheckSpec, code: str, message: str, hint: str, example: Example | None = None
) -> Finding:
    return Finding(code=code, file=spec.file, line=check.line, message=message, hint=hint, subject=check.name, example=example)


def _changes_rows(spec: PipelineSpec) -> bool:
    """Say whether a row that is dropped may have an older one: an overwrite takes it away, an insert changes none."""
    return spec.operation in ("upsert", "bulk_insert") or spec.write.strategy != "rows"


def _located(spec: PipelineSpec) -> frozenset[str]:
    """Return the columns by which the target tells its rows apart: what they say of a row they said of the older one."""
    place = () if spec.index.is_global else spec.target.partition_by
    return frozenset(column.lower() for column in (*spec.target.record_key, *place))


def _columns(check: CheckSpec) -> frozenset[str]:
    """Return the columns by which a check decides about a row; what is no column where nobody knows them all."""
    match check.rule:
        case RowRule(where):
            return frozenset(columns_of(where))
        case UniqueRule(columns):
            return frozenset(column.lower() for column in columns)
        case SuiteRule(expectations):
            return frozenset[str]().union(*(_named(one) for one in expectations))
        case _:
            return _ANY


def _named(expectation: Mapping[str, Any]) -> frozenset[str]:
    told: Mapping[str, Any] = expectation.get("kwargs") or {}
    if told.get("row_condition"):
        return _ANY
    found = (told[key] for key in _COLUMNS if told.get(key))
    return frozenset(str(name).lower() for one in found for name in (one if isinstance(one, list | tuple) else (one,)))


def _seen_together(check: CheckSpec, located: frozenset[str]) -> str:
    """Return the columns by which a check compares the rows of a batch; empty where each is judged by itself.

    Rows of one key come together: of doubles of it a recompute sees no others.
    """
    match check.rule:
        case UniqueRule(_, "batch"):
            found = [_columns(check)]
        case SuiteRule(expectations):
            figures = [_named(one) for one in expectations if one.get("type") in _OF_FIGURES]
            if figures:
                return ", ".join(sorted(figures[0]))
            found = [_named(one) for one in expectations if one.get("type") in _DOUBLES]
        case _:
            found = []
    return next((", ".join(sorted(columns)) for columns in found if not located <= columns), "")


def _volatile(where: str) -> str:
    """Return a function in a condition that gives another value in another run; empty where there is none."""
    try:
        tree = sqlglot.parse_one(where, dialect=Spark)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return ""
    return next((name for _, name in volatile_in(tree)), "")
