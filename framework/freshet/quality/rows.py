"""The rules that a row keeps or breaks by itself, or beside the others of its batch: each as one column, true for a bad row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from freshet.errors import DataError, foreign_text
from freshet.hudi.options import IS_DELETED
from freshet.plan.checks import CheckBatch
from freshet.project.model.checks import CheckSpec, MalformedRule, ReferenceRule, RowRule, SuiteRule, UniqueRule
from freshet.quality.contract import REASONS

_BAD, _OF = "__freshet_bad_", "__freshet_of_"
#: What is expected of a row that is not malformed.
FITS = "values that the columns can hold"


@dataclass(frozen=True, kw_only=True)
class RowCheck:
    """One rule over rows, evaluated as a column of the batch.

    Args:
        check: The check that it is of.
        bad: Name of the column that is true for a bad row.
        counted: Name of the column that is true for a row the share is of; empty for all that are not deleted.
        mostly: Share of rows that must be good; 1 for all.
        said: What is expected, in words.
        condition: SQL that selects bad rows of the view ``batch``; empty where there is none.
    """

    check: CheckSpec
    bad: str
    counted: str
    mostly: float
    said: str
    condition: str


def live() -> Column:
    """Return the condition that a row is not a deleted one: of that, only the key counts."""
    return ~F.coalesce(F.col(IS_DELETED), F.lit(False))


def with_row_checks(spark: SparkSession, stage: CheckBatch, batch: DataFrame) -> tuple[DataFrame, list[RowCheck]]:
    """Add a column for each rule over rows.

    Args:
        spark: The session.
        stage: The checks.
        batch: The batch after ``enforce_schema``.

    Raises:
        DataError: CHECK_NOT_EVALUATED: a rule's SQL does not fit the batch, or another table cannot be read.
    """
    found: list[RowCheck] = []
    rows = batch
    # A row that the table cannot hold has nulls where its values were: no other rule speaks of it.
    eligible = live() if IS_DELETED in batch.columns else F.lit(True)
    if REASONS in batch.columns:
        eligible = eligible & (F.size(REASONS) == 0)
    for check in stage.checks:
        try:
            for number, (bad, counted, mostly, said, condition) in enumerate(_columns(spark, check, rows, batch)):
                suffix = f"{len(found)}_{number}"
                one = RowCheck(
                    check=check,
                    bad=_BAD + suffix,
                    counted=_OF + suffix if counted is not None else "",
                    mostly=mostly,
                    said=said,
                    condition=condition,
                )
                flag = F.coalesce(bad, F.lit(False))
                flag = flag if isinstance(check.rule, MalformedRule) else flag & eligible
                if isinstance(check.rule, ReferenceRule):
                    rows = _referred(spark, check.rule, rows, one.bad, eligible)
                else:
                    rows = rows.withColumn(one.bad, flag)
                if counted is not None:
                    rows = rows.withColumn(one.counted, F.coalesce(counted, F.lit(False)) & eligible)
                found.append(one)
            rows.schema  # noqa: B018 - a rule that does not fit the batch is named here
        except (AnalysisException, ParseException) as error:
            raise not_evaluated(check, error) from error
    return rows, found


def not_evaluated(check: CheckSpec, error: Exception) -> DataError:
    """Return the error that a check's own SQL is wrong."""
    return DataError(
        "CHECK_NOT_EVALUATED",
        f"check {check.name} cannot be evaluated: {foreign_text(error)}",
        "Nothing was published, and the checkpoint stays.",
        "Mend the check in the pipeline's YAML.",
        check=check.name,
    )


Found = tuple[Column, Column | None, float, str, str]


def _columns(spark: SparkSession, check: CheckSpec, rows: DataFrame, batch: DataFrame) -> list[Found]:
    match check.rule:
        case RowRule(where):
            return [(F.expr(where), None, 1.0, f"no row where {where}", where)]
        case MalformedRule() if REASONS in batch.columns:
            return [(F.size(REASONS) > 0, None, 1.0, FITS, "")]
        case UniqueRule(columns, "batch"):
            names = [F.col(f"`{name}`") for name in columns]
            together = reduce(lambda one, other: one & other, (name.isNotNull() for name in names))
            # Deleted rows are apart: a key that moves is deleted in one place and inserted in another.
            apart = [live()] if IS_DELETED in batch.columns else []
            same = F.count(F.lit(1)).over(Window.partitionBy(*names, *apart)) > 1
            listed = ", ".join(columns)
            return [(together & same, None, 1.0, f"no two rows with the same {listed}", "")]
        case ReferenceRule(table, _, columns):
            named = ", ".join(f"{ours} in {theirs}" for ours, theirs in columns)
            return [(F.lit(False), None, 1.0, f"every {named} of {table}", "")]
        case SuiteRule(expectations):
            # Costs seconds to import, which only a run that uses it pays.
            from freshet.quality.expectations import row_conditions

            return [(one.condition, one.nonnull, one.mostly, one.name, "") for one in row_conditions(expectations, batch)]
        case _:
            return []


def _referred(spark: SparkSession, rule: ReferenceRule, rows: DataFrame, bad: str, eligible: Column) -> DataFrame:
    other = spark.read.format("hudi").load(rule.path)
    found = f"{bad}_found"
    names = [f"{bad}_{number}" for number in range(len(rule.columns))]
    theirs = other.select(*(F.col(f"`{column}`").alias(name) for (_, column), name in zip(rule.columns, names, strict=True)))
    theirs = theirs.distinct().withColumn(found, F.lit(True))
    same = reduce(
        lambda one, also: one & also,
        (F.col(f"`{ours}`") == F.col(name) for (ours, _), name in zip(rule.columns, names, strict=True)),
    )
    whole = reduce(lambda one, also: one & also, (F.col(f"`{ours}`").isNotNull() for ours, _ in rule.columns))
    joined = rows.join(theirs, same, "left").withColumn(bad, eligible & whole & F.col(found).isNull())
    return joined.drop(found, *names)
