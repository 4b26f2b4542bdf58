"""What cannot happen to records of topics and of files, whatever the SQL is: they come, and neither change nor go."""

from __future__ import annotations

from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.records import RecordsSpec
from freshet.verdict.columns import SRC, Col
from freshet.verdict.result import Finding
from freshet.verdict.says import SHOWN


def never_happens(spec: PipelineSpec, finding: Finding) -> bool:
    """Say whether a finding is of a row of the main source that goes, and that is a record, which does not.

    The recompute that increments are held against is the same SQL over all records, written in the same way: of the rows that
    several records make of one key the ordering field decides there, too.

    Args:
        spec: The pipeline.
        finding: A reason why its increments may differ from a recompute.
    """
    records = spec.source
    if not isinstance(records, RecordsSpec):
        return False
    if finding.code == "DELETES_STAY":
        # A tombstone that deletes is a row of its own, which the result has to mark.
        return records.tombstones != "delete" and finding.subject == SHOWN
    upserts = spec.operation == "upsert" and spec.write.strategy == "rows"
    of_one_that_goes = finding.example is not None and (finding.example.table, finding.example.change) == (SHOWN, "delete")
    return finding.code == "KEYS_MAY_COLLIDE" and upserts and of_one_that_goes


def orders_records(spec: PipelineSpec, col: Col | None) -> tuple[str, ...]:
    """Return the columns by which an ordering value tells the order of records; none where it does not follow from them alone.

    A record's value never goes back. That no two of a key share it is taken for granted.
    """
    if not isinstance(spec.source, RecordsSpec) or col is None or not col.of or any(table != SRC for table, _ in col.of):
        return ()
    return tuple(sorted(column for _, column in col.of))
