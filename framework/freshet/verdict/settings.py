"""What the pipeline's settings say, whatever its SQL is."""

from __future__ import annotations

from collections.abc import Iterable

from freshet.project.model.files import FilesSpec
from freshet.project.model.paths import same_place
from freshet.project.model.records import RecordsSpec
from freshet.verdict.question import Question
from freshet.verdict.result import Example, Finding
from freshet.verdict.says import SHOWN


def of_settings(question: Question) -> Iterable[Finding]:
    """Yield why the target may differ from a recompute by the pipeline's settings.

    Args:
        question: What is asked.
    """
    spec = question.spec

    def at_settings(code: str, message: str, hint: str, example: Example | None = None) -> Finding:
        return Finding(code=code, file=spec.file, line=1, message=message, hint=hint, example=example)

    begins_late = isinstance(spec.source, RecordsSpec) and spec.source.begins_late
    if begins_late or spec.source.missing_checkpoint == "READ_LATEST":
        yield at_settings(
            "STARTS_AT_LATEST",
            "The first run begins at the source's newest commit: rows of before are not in the target until they change.",
            f"Use {'auto.offset.reset: earliest' if begins_late else 'READ_UPTO_LATEST_COMMIT'}; or accept it where the older "
            "rows are not wanted.",
            Example(table=SHOWN, change="insert", recompute="holds the rows of before", target="does not hold them"),
        )
    files = spec.source if isinstance(spec.source, FilesSpec) else None
    if files is not None and (files.rewritten != "fail" or files.too_late != "fail"):
        yield at_settings(
            "NOT_RECOMPUTABLE",
            "The target keeps what a file had before it was written over, and lacks those that came too late: a recompute of "
            "the files that are there does neither.",
            "Use 'rewritten: fail' and 'too_late: fail'; or accept it where a file that is written over keeps its rows.",
        )
    if spec.operation == "delete":
        yield at_settings(
            "NOT_RECOMPUTABLE",
            "The operation delete takes rows out: what the target holds then cannot be recomputed from the source.",
            "Use upsert, and mark what shall go by _hoodie_is_deleted.",
        )
    for one in spec.inputs:
        if same_place(one.table.path) == same_place(spec.target.ref.path):
            yield at_settings(
                "NOT_RECOMPUTABLE",
                f"The input {one.name} is the target itself: what the target holds then follows from what it held before.",
                "Compute the rows from the source and the other inputs alone.",
            )
    if spec.operation == "insert" and spec.write.strategy == "rows":
        yield at_settings(
            "INSERT_REFUSES_CHANGES",
            "The operation insert writes new keys alone: a run in which a row changes that was published fails, and so does "
            "each one "
            "after it.",
            "Use upsert; or accept it where the source's rows never change.",
            Example(
                table=SHOWN, change="update", recompute="has the new values", target="keeps the old ones, as the run fails"
            ),
        )
    if spec.write.strategy != "rows" and not spec.write.insert_missing:
        yield at_settings(
            "NOT_MATCHED_IS_LOST",
            "'when_not_matched: ignore' drops an update whose row is not there yet; it does not come again.",
            "Use 'when_not_matched: insert'.",
            Example(
                table=SHOWN, change="insert", recompute="has the update, once the row is there", target="has lost the update"
            ),
        )
    if spec.write.strategy == "partial_update":
        yield at_settings(
            "KEEPS_OLD_VALUES",
            "partial_update leaves a column as it is where the row carries none: a value that became null in the source stays.",
            "Use 'strategy: merge', which sets null, too; or accept it where the source sends parts of rows.",
            Example(table=SHOWN, change="update", recompute="has null", target="keeps the old value"),
        )
    if spec.co_writers and spec.write.strategy != "rows" and "_hoodie_is_deleted" in {c.lower() for c in spec.write.columns}:
        yield at_settings(
            "DELETES_OF_OTHERS",
            "A deleted row takes the columns of the table's other writers with it: a row that comes back has them no more.",
            "Select _hoodie_is_deleted without owning it, so that a deleted row empties this pipeline's columns alone.",
            Example(table=SHOWN, change="delete", recompute="keeps the others' columns", target="does not hold the row"),
        )
