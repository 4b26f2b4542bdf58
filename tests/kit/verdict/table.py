"""Tables as the head of a case writes them: columns in one line, with marks for what they are to the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from freshet.verdict.facts import TableFacts

#: The cases that tests/unit/verdict argues for, and the files of schemas that they name.
CORPUS = Path(__file__).parents[2] / "unit/verdict/corpus"
_MARKS = "*/^!@"
SCHEMAS: Mapping[str, str] = {
    name: columns for file in sorted(CORPUS.glob("*.yml")) for name, columns in yaml.safe_load(file.read_text("utf-8")).items()
}


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: its columns, record key, partitioning and ordering field."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    partition: tuple[str, ...]
    ordering: str
    never_null: tuple[str, ...]
    moments: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Table:
        """Return a table as a head writes it."""
        text = SCHEMAS.get(text, text)
        words = [(word.rstrip(_MARKS), word[len(word.rstrip(_MARKS)) :]) for word in text.split()]
        return cls(
            columns=tuple(name for name, _ in words),
            key=tuple(name for name, marks in words if "*" in marks),
            partition=tuple(name for name, marks in words if "/" in marks),
            ordering=next((name for name, marks in words if "^" in marks), ""),
            never_null=tuple(name for name, marks in words if set(marks) & set("*^!")),
            moments=tuple(name for name, marks in words if "@" in marks),
        )

    @property
    def facts(self) -> TableFacts:
        """Return what the analysis may know of it."""
        return TableFacts(
            columns=self.columns,
            record_key=self.key,
            ordering=self.ordering,
            partition_by=self.partition,
            never_null=self.never_null,
            moments=self.moments or None,
        )
