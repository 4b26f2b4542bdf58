"""A check of the table as SQL, and as options of the validators that Hudi runs inside the commit. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freshet.plan.checks import TABLE_MARK, TableCheck
from freshet.project.model.checks import SqlRule

_SINGLE = "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator"
_UNCHANGED = "org.apache.hudi.client.validator.SqlQueryEqualityPreCommitValidator"
_CHANGED = "org.apache.hudi.client.validator.SqlQueryInequalityPreCommitValidator"
_PREFIX = "hoodie.precommit.validators"


def sql_of(rule: SqlRule, view: str) -> str:
    """Return the rule's query over a view: for an expected value, a query that gives ``true``, compared by Spark's types."""
    query = rule.query.replace(TABLE_MARK, view)
    # On lines of their own, because the query may end in a comment.
    return query if rule.compare else f"SELECT (\n{query}\n) <=> {rule.expect}"


def validator_options(checks: Sequence[TableCheck]) -> Mapping[str, str]:
    """Return Hudi's keys for the checks that it evaluates inside the commit."""
    rules = [one.check.rule for one in checks if one.by == "hudi" and isinstance(one.check.rule, SqlRule)]
    found: dict[str, str] = {}
    classes = []
    for compare, validator, key in (
        ("", _SINGLE, "single.value"),
        ("unchanged", _UNCHANGED, "equality"),
        ("changed", _CHANGED, "inequality"),
    ):
        texts = [sql_of(rule, TABLE_MARK) + ("" if compare else "#true") for rule in rules if rule.compare == compare]
        if texts:
            classes.append(validator)
            found[f"{_PREFIX}.{key}.sql.queries"] = ";".join(texts)
    return {**found, _PREFIX: ",".join(classes)} if classes else {}
