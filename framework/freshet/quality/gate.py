"""Check a batch before it is published: every rule over rows in one pass, dropped rows apart, the rest goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from freshet.event_times.counted import Counted
from freshet.hudi.options import IS_DELETED
from freshet.plan.checks import CheckBatch
from freshet.project.model.checks import CheckSpec, FreshnessRule, MalformedRule, SqlRule, SuiteRule, VolumeRule
from freshet.quality.contract import NOWHERE, ORIGINAL, REASONS
from freshet.quality.kept import by_few_tasks, keep_rows
from freshet.quality.older import DELETES, delete_rows, wants_delete
from freshet.quality.outcome import Outcome, outcome
from freshet.quality.queries import SAMPLE, judge_query
from freshet.quality.rows import FITS, RowCheck, live, not_evaluated, with_row_checks
from freshet.quality.totals import Asked, totals_of_batch
from freshet.quality.volume import freshness, volume

#: Why a row was dropped: names of the rules, and the reasons in words.
RULES = "__freshet_rules"
_VIEW = "batch"


@dataclass(frozen=True, kw_only=True)
class Gated:
    """A batch after its checks.

    Args:
        rows: What may be published, with the columns of the batch alone, and what deletes the older rows of dropped ones.
        kept: What may be published, with the columns that go along.
        dropped: Rows for the quarantine, with their rules, reasons and original; None where nothing was dropped.
        count: Rows of the batch that were checked.
        dropped_count: Of these, the dropped ones.
        outcomes: What each check found.
        deletes: Of the dropped rows, those whose older row is deleted.
        undeletable: Of the dropped rows, those whose older row should be, and that name no row of the table.
        event_times: Of the rows that stay; None where none are counted.
    """

    rows: DataFrame
    kept: DataFrame
    dropped: DataFrame | None
    count: int
    dropped_count: int
    outcomes: tuple[Outcome, ...]
    deletes: int = 0
    undeletable: int = 0
    event_times: Counted | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is left to publish."""
        return self.count == self.dropped_count and not self.deletes


def check_batch(spark: SparkSession, stage: CheckBatch, batch: DataFrame, keep: tuple[str, ...] = ()) -> Gated:
    """Evaluate the checks over a batch.

    The batch is computed once, kept, and aggregated once; samples and the queries over the batch read what is kept.

    Args:
        spark: The session.
        stage: The checks.
        batch: The batch after ``enforce_schema``.
        keep: Columns that go along and are published no more than the marks are.

    Returns:
        The batch without the rows that are dropped, and what was found; nothing is raised for a check that failed.

    Raises:
        DataError: CHECK_NOT_EVALUATED.
    """
    carried = [name for name in (REASONS, ORIGINAL, NOWHERE, *keep) if name in batch.columns]
    own = [name for name in batch.columns if name not in carried]
    marked, row_checks = with_row_checks(spark, stage, batch)
    drops = [one for one in row_checks if one.check.severity == "drop"]
    rules = F.array_compact(F.array(F.lit(None).cast("string"), *(F.when(F.col(d.bad), F.lit(d.check.name)) for d in drops)))
    wanted, possible = wants_delete(stage, [one.bad for one in drops if one.check.deletes], carried)
    marked = keep_rows(marked.withColumns({RULES: F.array_distinct(rules), DELETES: wanted & possible}))
    times = _times(stage, own)
    is_live = live() if IS_DELETED in own else F.lit(True)
    asked = Asked(
        live=is_live,
        dropped=F.size(RULES) > 0,
        deletes=F.col(DELETES),
        wanted=wanted,
        row_checks=row_checks,
        times=times,
    )
    totals, event_times = totals_of_batch(marked, asked, stage.event_times)
    marked = by_few_tasks(marked)
    kept = marked.where(F.size(RULES) == 0) if drops else marked
    clean = kept.select(*(F.col(f"`{name}`") for name in own))
    outcomes = [_judged(stage, checks, totals, marked, own) for checks in _by_check(row_checks)]
    if REASONS not in batch.columns:
        # Where no row is dropped, the first malformed one has ended the run by now.
        seen = f"{int(totals['rows']):,} good rows"
        outcomes += [
            outcome(check, False, expected=FITS, seen=seen) for check in stage.checks if isinstance(check.rule, MalformedRule)
        ]
    outcomes += [
        freshness(check, totals[f"newest_text_{n}"], totals[f"age_{n}"], totals[f"newest_at_{n}"])
        for n, check in enumerate(times)
    ]
    volumes = [check for check in stage.checks if isinstance(check.rule, VolumeRule)]
    outcomes += [volume(check, int(totals["live"]), stage.history) for check in volumes]
    visible = clean.where(is_live)
    outcomes = _aggregates(stage, outcomes, visible, int(totals["live"]) - int(totals["dropped"]))
    outcomes += _queries(spark, stage, visible)
    order = [check.name for check in stage.checks]
    dropped = None
    if totals["dropped"]:
        dropped = marked.where(F.size(RULES) > 0).select(*(F.col(f"`{name}`") for name in (*own, *carried, RULES, DELETES)))
        if totals["deletes"]:
            clean = clean.unionByName(delete_rows(stage, dropped, visible))
    return Gated(
        rows=clean,
        kept=kept.select(*own, *keep),
        dropped=dropped,
        count=int(totals["rows"]),
        dropped_count=int(totals["dropped"]),
        outcomes=tuple(sorted(outcomes, key=lambda one: order.index(one.name))),
        deletes=int(totals["deletes"]),
        undeletable=int(totals["undeletable"]),
        event_times=event_times,
    )


def _times(stage: CheckBatch, own: list[str]) -> list[CheckSpec]:
    found = [check for check in stage.checks if isinstance(check.rule, FreshnessRule)]
    for check in found:
        if isinstance(check.rule, FreshnessRule) and check.rule.column not in own:
            raise not_evaluated(check, ValueError(f"the batch has no column {check.rule.column}, as that of a delete"))
    return found


def _by_check(found: Sequence[RowCheck]) -> list[list[RowCheck]]:
    names = list(dict.fromkeys(one.check.name for one in found))
    return [[one for one in found if one.check.name == name] for name in names]


def _judged(stage: CheckBatch, found: list[RowCheck], totals: Row, marked: DataFrame, own: list[str]) -> Outcome:
    """Judge one check: a suite has several rules, any other has one."""
    check = found[0].check
    rows = int(totals["live"])
    broken = []
    for one in found:
        bad = int(totals[one.bad])
        of = int(totals[one.counted]) if one.counted else int(totals["rows"]) if isinstance(check.rule, MalformedRule) else rows
        if bad and (check.severity == "drop" or (of - bad) / max(of, 1) < one.mostly):
            broken.append((one, bad, of))
    if not broken:
        return outcome(check, False, expected="; ".join(one.said for one in found), seen=f"{rows:,} good rows")
    worst = max(bad for _, bad, _ in broken)
    sample = _sample(stage, broken[0][0], marked, own)
    seen = "; ".join(f"{bad:,} bad of {of:,} rows" + (f" ({one.said})" if len(found) > 1 else "") for one, bad, of in broken)
    condition = broken[0][0].condition
    made = outcome(
        check,
        True,
        rows=worst,
        expected="; ".join(one.said for one, _, _ in broken),
        seen=seen,
        sample=sample,
        query=f"SELECT * FROM {_VIEW} WHERE {condition}" if condition else "",
    )
    share = max(bad / max(of, 1) for _, bad, of in broken)
    too_many = check.most_rows is not None and worst > check.most_rows
    too_large = check.most_share is not None and share > check.most_share
    if too_many or too_large:
        limit = f"{check.most_rows:,} rows" if check.most_rows is not None else f"{100 * (check.most_share or 0):g}%"
        return Outcome(**{**vars(made), "status": "failed", "expected": f"{made.expected}, or at most {limit} bad"})
    return made


def _sample(stage: CheckBatch, row_check: RowCheck, marked: DataFrame, own: list[str]) -> list[str]:
    shown = (
        F.col(ORIGINAL)
        if ORIGINAL in marked.columns
        else F.to_json(F.struct(*(F.col(f"`{name}`") for name in own)), {"ignoreNullFields": "false"})
    )
    shown = F.substring(shown, 1, 500)
    if REASONS in marked.columns:
        shown = F.concat_ws(" <- ", shown, F.array_join(REASONS, "; "))
    keys = [F.col(f"`{name}`") for name in stage.record_key if name in own]
    return [str(row[0]) for row in marked.where(row_check.bad).orderBy(*keys).select(shown).limit(SAMPLE).collect()]


def _aggregates(stage: CheckBatch, outcomes: list[Outcome], rows: DataFrame, count: int) -> list[Outcome]:
    """Add what the suites say of the batch as a whole to what they say of its rows."""
    found = {one.name: one for one in outcomes}
    for check in stage.checks:
        if not isinstance(check.rule, SuiteRule):
            continue
        if not count and check.name not in found:
            # Of no rows GX finds no mean, and calls that unexpected.
            found[check.name] = Outcome(check.name, "expectations", check.severity, "skipped", seen="no row")
            continue
        from freshet.quality.expectations import evaluate_aggregates

        known = found.get(check.name) or outcome(check, False, seen=f"{count:,} rows")
        if count and check.severity != "drop":
            wrong = [one for one in evaluate_aggregates(check.rule.expectations, rows) if not one.success]
            if wrong:
                said = "; ".join(f"{one.name} {one.expected}" for one in wrong)
                seen = "; ".join(one.exception or f"{one.name}: {one.observed}" for one in wrong)
                known = outcome(
                    check,
                    True,
                    rows=known.rows,
                    expected="; ".join(x for x in (known.rows and known.expected, said) if x),
                    seen="; ".join(x for x in (known.rows and known.seen, seen) if x),
                    sample=known.sample,
                    query=known.query,
                )
        found[check.name] = known
    return list(found.values())


def _queries(spark: SparkSession, stage: CheckBatch, rows: DataFrame) -> list[Outcome]:
    found = []
    for check in stage.checks:
        if isinstance(check.rule, SqlRule):
            rows.createOrReplaceTempView(_VIEW)
            found.append(judge_query(spark, check, check.rule, _VIEW))
    return found
