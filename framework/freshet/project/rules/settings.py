"""What the rules of the target and of its index share: a setting, the columns that it names, a problem at its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from freshet.problems import Problems, did_you_mean
from freshet.project.syntax.ddl import DdlTable, Setting
from freshet.project.syntax.files import Place
from freshet.types.columns import Atomic, Column, Decimal


@dataclass(frozen=True)
class SettingRules:
    """Settings of one pipeline's target, to be held against its DDL.

    Args:
        ddl: The parsed DDL.
        settings: One agreed value per Hudi key.
        place: Where the pipeline names its DDL; what has no line of its own is reported there.
        problems: Receives what is wrong.
    """

    ddl: DdlTable
    settings: Mapping[str, Setting]
    place: Place
    problems: Problems

    def columns(self, setting: Setting, what: str) -> list[Column]:
        """Return the columns that a setting names, each a column of the DDL of a simple type.

        Args:
            setting: Names, separated by commas.
            what: What they are, for a message.
        """
        by_name = {column.name.lower(): column for column in self.ddl.columns}
        found = []
        for name in (part.strip() for part in setting.value.split(",") if part.strip()):
            column = by_name.get(name.lower())
            if column is None:
                self.add(
                    setting,
                    "UNKNOWN_COLUMN",
                    f"The {what} '{name[:80]}' is not a column of {self.ddl.name}.",
                    did_you_mean(name, [c.name for c in self.ddl.columns]),
                )
            elif not isinstance(column.type, Atomic | Decimal):
                self.add(
                    setting,
                    "UNSUPPORTED_TYPE",
                    f"The {what} '{column.name}' is of type {column.type}.",
                    "Choose a column of a simple type.",
                )
            elif column in found:
                self.add(setting, "DUPLICATE_COLUMN", f"The {what} '{column.name}' is named twice.", "Remove one.")
            else:
                found.append(column)
        return found

    def setting(self, key: str) -> Setting:
        """Return a setting; an empty one at the pipeline's own place where it is not set."""
        return self.settings.get(key) or Setting(value="", file=self.place.file, line=self.place.line)

    def add(self, at: Setting, code: str, message: str, hint: str) -> None:
        """Report a problem at the line of a setting."""
        self.problems.add(at.file, at.line, code, message, hint)


def check_spark(settings: Mapping[str, Setting], problems: Problems) -> None:
    """Report settings that are none of Spark's, and those that cannot be set."""
    for key, setting in settings.items():
        if not key.startswith("spark."):
            hint = (
                "Hudi's properties belong under 'hoodie:'."
                if key.startswith("hoodie.")
                else did_you_mean(f"spark.{key}", [f"spark.{key}"])
            )
            problems.add(setting.file, setting.line, "UNKNOWN_KEY", f"'{key[:80]}' is not a setting of Spark.", hint)
        if key == "spark.sql.parquet.datetimeRebaseModeInWrite":
            problems.add(setting.file, setting.line, "RESERVED_KEY", f"'{key}' cannot be set: Hudi has one calendar.")
