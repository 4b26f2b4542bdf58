"""Columns as a command line or a small file has them: the text between the brackets of ``CREATE TABLE``."""

from __future__ import annotations

from freshet.errors import DataError, Problem
from freshet.problems import Problems
from freshet.project.syntax.ddl import parse_ddl
from freshet.types.columns import Column

UNTOUCHED = "Nothing was written."


def refuse(name: str, problems: Problems) -> None:
    """Raise what was collected as one error: nobody has written a file with these lines."""
    if not problems.found:
        return
    first: Problem = problems.found[0]
    said = "; ".join(problem.message.rstrip(".") for problem in problems.found)
    raise DataError(first.code, f"{name}: {said}.", UNTOUCHED, first.hint, problems=[vars(p) for p in problems.found])


def parse_columns(name: str, text: str) -> tuple[Column, ...]:
    """Read columns as ``CREATE TABLE`` has them between its brackets; none where the text is empty.

    Raises:
        DataError: With the code of what is wrong first.
    """
    if not text.strip():
        return ()
    problems = Problems()
    ddl = parse_ddl(f"CREATE TABLE {quoted_name(name)} (\n{text}\n) USING hudi", "--columns", problems)
    refuse(name, problems)
    return ddl.columns if ddl is not None else ()


def quoted_name(name: str) -> str:
    """Return a dotted name as SQL has it, whatever its parts are."""
    return ".".join(f"`{part}`" for part in name.split("."))
