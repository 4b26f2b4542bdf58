"""The first values of files that do not fit into their columns, and where they stand: looked for when a landing was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from freshet.landing.columns import natural_columns
from freshet.landing.file_rows import FILE, is_nested, read_group
from freshet.landing.files import Files
from freshet.landing.heads import shown
from freshet.landing.odd_lines import lines_of
from freshet.landing.texts import made_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.quality.refusals import SHOWN, row_in_words

#: How many are named.
MOST = 3


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """A value that does not fit into its column.

    Args:
        file: Path of its file.
        column, value: The value; of a long one its first characters.
        row: The row's key in words.
        line: Where it stands, where that is known; else 0.
    """

    file: str
    column: str
    value: str
    row: str
    line: int = 0

    @property
    def where(self) -> str:
        """Return the place in words."""
        return f"{shown(self.file)}, {f'line {self.line}' if self.line else self.row}"


def misfits_of(spark: SparkSession, files: Files, spec: PipelineSpec) -> list[Misfit]:
    """Return the first values of texts that do not fit, at most one more than ``MOST``.

    Args:
        spark: The session.
        files: The files; of Parquet nothing is looked for, whose values have types.
        spec: The table.
    """
    found: list[Misfit] = []
    wanted = {c.name.lower(): c for c in spec.target.columns}
    for group in files.groups if files.format != "parquet" else ():
        named = {c.name: wanted[c.name.lower()].type for c in natural_columns(spark, files, group) if c.name.lower() in wanted}
        by_lower = {name.lower(): name for name in named}
        key = {name: by_lower[name.lower()] for name in spec.target.record_key if name.lower() in by_lower}
        bad = []
        for name, kind in named.items():
            if not is_nested(kind):
                value = F.struct(F.lit(name).alias("column"), F.substring(f"`{name}`", 1, SHOWN).alias("value"))
                bad.append(F.when(F.col(f"`{name}`").isNotNull() & ~made_of(F.col(f"`{name}`"), name, kind)[1], value))
        if not bad:
            continue
        rows = read_group(spark, files, group, named)
        values = rows.select(F.explode(F.array_compact(F.array(*bad))).alias("bad"), FILE, row_in_words(key).alias("row"))
        for one in values.limit(MOST + 1 - len(found)).collect():
            path = unquote(one[FILE].removeprefix("file://"))
            found.append(Misfit(file=path, column=one["bad"]["column"], value=one["bad"]["value"], row=one["row"]))
        if len(found) > MOST:
            break
    return found


def with_lines(found: Sequence[Misfit], files: Files) -> list[Misfit]:
    """Return the same values with their lines, where the files have lines."""
    if files.format != "csv":
        return list(found)
    before: Counter[Misfit] = Counter()
    placed = []
    for one in found:
        place = Misfit(file=one.file, column=one.column, value=one.value, row="")
        lines = lines_of(one.file, one.column, one.value, files.delimiter)
        placed.append(
            Misfit(
                file=one.file,
                column=one.column,
                value=one.value,
                row=one.row,
                line=next(islice(lines, before[place], None), 0),
            )
        )
        before[place] += 1
    return placed


def in_words(found: Sequence[Misfit]) -> str:
    """Return the values as a sentence; nothing where there is none."""
    if not found:
        return ""
    told = "; ".join(f"{one.where}: {one.column} {one.value[:60]!r}" for one in found[:MOST])
    return f" In the files: {told}{'; and more' * (len(found) > MOST)}."
