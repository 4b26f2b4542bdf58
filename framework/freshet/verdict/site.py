"""Findings, each with its place in a file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from freshet.verdict.result import Example, Finding
from freshet.verdict.texts import CALL, SHOWN


@dataclass
class Site:
    """A statement of a file, in which things are found.

    Args:
        file: The file, relative to the project.
        line: Line of the file that the statement starts on.
        text: The statement.
        found: Receives what is found for sure, whatever becomes of the rows.
    """

    file: str
    line: int
    text: str
    found: list[Finding] = field(default_factory=list)

    def stop(self, found: Finding) -> None:
        """Note what is found for sure, behind which nothing can be said of the rows."""
        self.found.append(replace(found, stops=True))

    def place(self, node: exp.Expr) -> tuple[int, int]:
        """Return line and column of a node, both from 1: of the first name that it holds."""
        starts = [one.meta["start"] for one in node.find_all(exp.Identifier, exp.Star) if "start" in one.meta]
        outer: exp.Expr | None = node
        while not starts and outer is not None and outer.parent is not None:
            outer = outer.parent
            starts = [one.meta["start"] for one in outer.find_all(exp.Identifier) if "start" in one.meta]
        start = min(starts, default=0)
        return self.line + self.text.count("\n", 0, start), start - (self.text.rfind("\n", 0, start) + 1) + 1

    def finding(
        self, code: str, node: exp.Expr, message: str, hint: str, subject: str = "", example: Example | None = None
    ) -> Finding:
        """Return a finding at a node's place."""
        line, column = self.place(node)
        message, hint, subject = (text.replace(CALL, SHOWN) for text in (message, hint, subject))
        return Finding(
            code=code,
            file=self.file,
            line=line,
            column=column,
            message=message,
            hint=hint,
            subject=subject,
            example=example,
        )
