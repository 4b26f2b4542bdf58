"""SQL that is probably wrong, told before Spark starts.

The parser knows nearly all of Spark's SQL, and not all of it: what it cannot parse is told, and never refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from freshet.plan.stages import Notice
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.statements import Statement
from freshet.remembered import recall_by_code, remember_by_code

# What stands behind these is no SQL.
_OTHER = re.compile(r"\s*(set|uncache|map|reduce)\b", re.IGNORECASE)
_LONGEST = 40
_KIND = "unparsed"


def sql_notices(spec: PipelineSpec) -> tuple[Notice, ...]:
    """Return a notice for each SQL file of a pipeline with a statement that cannot be parsed, with the first such place.

    Args:
        spec: The pipeline.
    """
    found = ((step.file, _first(step.statements)) for step in spec.transform if step.statements)
    return tuple(
        Notice(
            "SQL_NOT_PARSED",
            f"{file}:{place[0]}: {place[1]}, as far as freshet's parser knows Spark's SQL. Spark itself tells: "
            f"freshet validate {spec.name} --deep",
        )
        for file, place in found
        if place is not None
    )


def _first(statements: Sequence[Statement]) -> tuple[int, str] | None:
    about = json.dumps([(one.line, one.text) for one in statements])
    kept = recall_by_code(_KIND, about)
    if kept is not None:
        return (int(kept[0]), str(kept[1])) if kept else None
    place = next(unparsed(statements), None)
    remember_by_code(_KIND, about, place or [])
    return place


def unparsed(statements: Sequence[Statement]) -> Iterator[tuple[int, str]]:
    """Yield the place of each statement that cannot be parsed: its line in the file, and what stands there in words.

    Args:
        statements: Of one file.
    """
    # sqlglot costs 0.15 s to import, which an idle run must not pay.
    import sqlglot
    from sqlglot.errors import ParseError, SqlglotError

    from freshet.verdict.texts import CALL, SHOWN
    from freshet.verdict.tumbling import readable

    for statement in statements:
        if _OTHER.match(statement.text):
            continue
        try:
            sqlglot.parse_one(readable(statement.text), dialect="spark")
        except ParseError as error:
            first = error.errors[0] if error.errors else {}
            at, told = str(first.get("highlight") or "")[:_LONGEST].replace(CALL, SHOWN), str(first.get("description") or "")
            near = f" at '{at}'" if at.strip() else ""
            if told.startswith("Invalid expression") and near:
                what = f"unexpected '{at}'"
            elif told.startswith("Required keyword") or not told:
                what = f"something is missing{near}"
            else:
                what = f"{told[:1].lower()}{told[1:]}{near}"
            yield statement.line + int(first.get("line") or 1) - 1, what
        except (SqlglotError, RecursionError):
            yield statement.line, "this statement cannot be read"
