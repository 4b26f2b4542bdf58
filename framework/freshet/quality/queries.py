"""Evaluate a check's query, and the checks of the table as it would stand after the commit."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
import sqlglot.errors
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlglot import exp

from freshet.hudi.options import REPLACES_ALL
from freshet.plan.checks import CheckTable, TableCheck
from freshet.project.model.checks import CheckSpec, SqlRule, UniqueRule, kind_of
from freshet.quality.outcome import Outcome, outcome
from freshet.quality.preview import after, before, touched_partitions
from freshet.quality.rows import not_evaluated

_TABLE = "<TABLE_NAME>"
# What stands for it: the partitions that the commit touches, or the whole table; and the same as they are.
_AFTER = {False: "freshet_after", True: "freshet_after_all"}
_BEFORE = {False: "freshet_before", True: "freshet_before_all"}
_VALUE = "__freshet_value"
_MOST_ROWS = 100
#: Bad rows that a report shows.
SAMPLE = 5


def check_table(
    spark: SparkSession,
    stage: CheckTable,
    checks: Sequence[TableCheck],
    rows: DataFrame,
    stands: DataFrame,
) -> tuple[Outcome, ...]:
    """Evaluate checks of the table as it would stand.

    Args:
        spark: The session.
        stage: The table and how the commit writes it.
        checks: Those of the stage that are to be evaluated here.
        rows: The rows that the commit writes.
        stands: The table as it stands; without rows before the first commit.

    Returns:
        What was found; nothing is raised for a check that failed.

    Raises:
        DataError: CHECK_NOT_EVALUATED.
    """
    touched = None
    found = []
    # A frame is planned once for all the checks that look at it.
    planned = set[str]()
    for one in checks:
        rule = _unique_query(one.check.rule) if isinstance(one.check.rule, UniqueRule) else one.check.rule
        assert isinstance(rule, SqlRule)
        # What replaces the table touches all of it.
        whole = rule.scope == "table" or not stage.partition_by or stage.operation == REPLACES_ALL
        if not whole and touched is None:
            touched = touched_partitions(stage, rows, stands)
        if not whole and not touched:
            found.append(
                Outcome(
                    one.check.name,
                    kind_of(one.check.rule),
                    one.check.severity,
                    "skipped",
                    seen="the commit touches no partition",
                )
            )
            continue
        partitions = None if whole else touched
        try:
            if _AFTER[whole] not in planned:
                after(stage, rows, stands, partitions).createOrReplaceTempView(_AFTER[whole])
            if rule.compare and _BEFORE[whole] not in planned:
                before(stage, stands, partitions).createOrReplaceTempView(_BEFORE[whole])
        except PySparkException as error:
            raise not_evaluated(one.check, error) from error
        planned |= {_AFTER[whole], *((_BEFORE[whole],) if rule.compare else ())}
        found.append(judge_query(spark, one.check, rule, _AFTER[whole], _BEFORE[whole]))
    return tuple(found)


def judge_query(spark: SparkSession, check: CheckSpec, rule: SqlRule, view: str, view_before: str = "") -> Outcome:
    """Evaluate a query over a view, in one job.

    Args:
        spark: The session.
        check: The check.
        rule: Its query and what it must give.
        view: What stands for ``<TABLE_NAME>``.
        view_before: The same of before the commit, for a comparison.

    Raises:
        DataError: CHECK_NOT_EVALUATED.
    """
    try:
        result = spark.sql(rule.query.replace(_TABLE, view))
        if rule.compare:
            seen, then = _text(result), _text(spark.sql(rule.query.replace(_TABLE, view_before)))
            bad = (seen == then) == (rule.compare == "changed")
            return outcome(check, bad, expected=f"{rule.compare}, and before it is {then}", seen=seen, query=rule.query)
        if len(result.columns) != 1:
            raise not_evaluated(check, ValueError(f"the query gives {len(result.columns)} columns, and 'expect' is one value"))
        # Spark compares, by the types of both, as Hudi's validator would have it do, and in the same job.
        one = result.toDF(_VALUE).limit(2).select(_VALUE, F.col(_VALUE).eqNullSafe(F.expr(rule.expect)))
        values = one.collect()
        if not values:
            values = spark.range(1).select(F.lit(None), F.expr(f"({rule.expect}) IS NULL")).collect()
        if len(values) > 1:
            raise not_evaluated(check, ValueError("the query gives several rows, and 'expect' is one value"))
        value, held = values[0]
    except (PySparkException, Py4JJavaError) as error:
        raise not_evaluated(check, error) from error
    if held is True:
        return outcome(check, False, expected=rule.expect, seen=str(value))
    shown = rows_query(rule.query)
    sample = _sample(spark, shown.replace(_TABLE, view)) if shown else []
    return outcome(check, True, expected=rule.expect, seen=str(value), sample=sample, query=shown or rule.query)


def rows_query(query: str) -> str:
    """Return the query that shows the rows which a counting query counts; empty where it does more than count.

    Args:
        query: One SELECT with ``<TABLE_NAME>``.
    """
    mark = "freshet_table"
    try:
        found = sqlglot.parse_one(query.replace(_TABLE, mark), dialect="spark")
    except sqlglot.errors.SqlglotError:
        return ""
    if not isinstance(found, exp.Select) or found.args.get("group") or found.args.get("having") or len(found.selects) != 1:
        return ""
    counted = found.selects[0].unalias()
    if not isinstance(counted, exp.Count) or not isinstance(counted.this, exp.Star):
        return ""
    return found.select("*", append=False).sql(dialect="spark").replace(mark, _TABLE)


def _sample(spark: SparkSession, query: str) -> list[str]:
    try:
        rows = spark.sql(query)
        shown = F.substring(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}), 1, 500)
        return [str(row[0]) for row in rows.select(shown).limit(SAMPLE).collect()]
    except (PySparkException, Py4JJavaError):
        # The check has its answer without them.
        return []


def _text(result: DataFrame) -> str:
    rows = sorted(", ".join(str(value) for value in row) for row in result.limit(_MOST_ROWS).collect())
    return "; ".join(rows) or "no row"


def _unique_query(rule: UniqueRule) -> SqlRule:
    names = [f"`{name}`" for name in rule.columns]
    there = " AND ".join(f"{name} IS NOT NULL" for name in names)
    listed = ", ".join(names)
    query = f"SELECT count(*) FROM (SELECT 1 FROM {_TABLE} WHERE {there} GROUP BY {listed} HAVING count(*) > 1)"
    return SqlRule(query=query, expect="0", compare="", scope="table")
