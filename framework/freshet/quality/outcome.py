"""What became of each check: for the error, the report, and the commit's metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from freshet.errors import CheckError, DataError
from freshet.hudi.checkpoint import CHECKS_KEY
from freshet.plan.checks import NEW_KEYS
from freshet.project.model.checks import CheckSpec, Severity, kind_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.secrets import redact

Status = Literal["passed", "failed", "warned", "dropped", "skipped"]
_SHOWN_SAMPLE = 3
_BROKEN: Mapping[Severity, Status] = {"fail": "failed", "warn": "warned", "drop": "dropped"}


@dataclass(frozen=True)
class Outcome:
    """What one check found.

    Args:
        name, kind, severity: Of the check.
        status: ``failed`` publishes nothing; ``dropped``: bad rows went to the quarantine; ``skipped``: nothing to check.
        rows: Bad rows; 0 where the check counts none.
        expected, seen: In words.
        sample: Some bad rows, as JSON.
        query: A query over the view ``batch`` or the table that shows them; empty where there is none.
        newest: Of a check of freshness: the newest event time, in seconds since 1970.
    """

    name: str
    kind: str
    severity: str
    status: Status
    rows: int = 0
    expected: str = ""
    seen: str = ""
    sample: tuple[str, ...] = ()
    query: str = ""
    newest: int | None = None

    def as_json(self) -> dict[str, object]:
        """Return the outcome as a JSON-serialisable mapping."""
        told = {**vars(self), "sample": list(self.sample)}
        return told if self.newest is not None else {name: value for name, value in told.items() if name != "newest"}


def outcome(
    check: CheckSpec,
    bad: bool,
    *,
    rows: int = 0,
    expected: str = "",
    seen: str = "",
    sample: Sequence[str] = (),
    query: str = "",
) -> Outcome:
    """Return the outcome of a check that found something bad or did not.

    Args:
        check: The check.
        bad: True where its rule does not hold.
        rows: Bad rows.
        expected, seen: In words.
        sample: Some bad rows, as JSON.
        query: What shows them.
    """
    status = _BROKEN[check.severity] if bad else "passed"
    return Outcome(check.name, kind_of(check.rule), check.severity, status, rows, expected, seen, tuple(sample), query)


def metadata_of(outcomes: Sequence[Outcome], rows: int, quarantined: int, older_kept: int = 0) -> dict[str, str]:
    """Return the commit's metadata entry: status and counts of each check, no row of the data."""
    found = {
        o.name: {
            "kind": o.kind,
            "severity": o.severity,
            "status": o.status,
            "rows": o.rows,
            "seen": redact(o.seen)[:200],
            **({} if o.newest is None else {"newest": o.newest}),
        }
        for o in outcomes
    }
    told = {"rows": rows, "quarantined": quarantined, "older_kept": older_kept, "checks": found}
    return {CHECKS_KEY: json.dumps(told, sort_keys=True)}


def refuse_failed(spec: PipelineSpec, outcomes: Sequence[Outcome]) -> None:
    """Raise where a check failed.

    Args:
        spec: The pipeline.
        outcomes: What the checks found.

    Raises:
        DataError: DUPLICATE_KEY, of an insert.
        CheckError: CHECK_FAILED, with every check that failed, what was expected and seen, and some of the rows.
    """
    failed = [one for one in outcomes if one.status == "failed"]
    if not failed:
        return
    twice = next((one for one in failed if one.name == NEW_KEYS), None)
    if twice is not None:
        raise DataError(
            "DUPLICATE_KEY",
            f"{spec.target.ref.name}: the key {twice.seen} would stand twice.",
            "Nothing was written, and the checkpoint stays.",
            "`insert` is for rows that are new: use hoodie.datasource.write.operation: upsert.",
            key=twice.seen,
        )
    # The names first: a message is cut where it gets long, and the details have all of it.
    named = f"checks {', '.join(one.name for one in failed)} failed: " if len(failed) > 1 else ""
    said = "; ".join(_in_words(one) for one in failed)
    raise CheckError(
        "CHECK_FAILED",
        f"{spec.name}: {named}{said}.",
        "Nothing was published: the table, its checkpoint and its index stay as they were.",
        f"Look at the rows: freshet checks {spec.name} --next; mend them at their source, in the SQL or the rule, and run the "
        "same command again.",
        checks=[one.as_json() for one in outcomes],
    )


def _in_words(outcome: Outcome) -> str:
    rows = f"; rows: {', '.join(outcome.sample[:_SHOWN_SAMPLE])}" if outcome.sample else ""
    query = f"; query: {' '.join(outcome.query.split())}" if outcome.query else ""
    return f"check {outcome.name}: expected {outcome.expected}, seen {outcome.seen}{rows}{query}"
