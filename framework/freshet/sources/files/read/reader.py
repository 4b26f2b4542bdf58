"""Read files with Spark: those that the plan says, each whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from freshet.errors import DataError, foreign_text
from freshet.project.model.files import ORIGIN
from freshet.quality.contract import ORIGINAL, REASONS
from freshet.quality.kept import keep_rows
from freshet.sources.files.position import iso_of
from freshet.sources.files.read.damage import Failures, damaged_among, is_damage
from freshet.sources.files.read.heads import look_at, paths_of
from freshet.sources.files.read.rows import WHY, no_rows, rows_of
from freshet.sources.files.reads import File, ReadFiles
from freshet.sources.hudi.reads import DriveRows, ReadIncrement, ReadRange, counted
from freshet.sources.unreadable import guarded
from freshet.sources.within import rows_within

_PLACE = {"path": f"{ORIGIN}.path"}
_MODIFIED = f"{ORIGIN}.modified"
_SHOWN = 5


class FilesReader:
    """Reads files as the main source; see ``freshet.sources.protocol.Reader``."""

    identity: tuple[str, ...] = ()

    def read(self, spark: SparkSession, stage: ReadIncrement) -> tuple[DataFrame, DataFrame | None]:
        """Return the rows of the files that can be read, and what else they hold where it goes to the quarantine.

        Where it does not, a file that cannot be read is an error, and such a row fails the job that reads any column of it.

        Raises:
            DataError: FILES_UNREADABLE.
        """
        if not isinstance(stage, ReadFiles):
            raise TypeError("a plan of files reads files")
        rows, bad = _rows(spark, stage, stage.files)
        if not stage.rule:
            if bad:
                raise _unreadable(stage, bad)
            rows = rows.drop(ORIGINAL)
            return (rows.drop(WHY) if stage.as_messages else _in_time(guarded(rows, WHY, _PLACE), stage.times)), None
        kept = keep_rows(rows)
        try:
            # A file that is damaged behind its beginning shows when it is read: before anything is written.
            kept.count()
        except Failures as error:
            if not is_damage(error):
                raise
            kept.unpersist()
            more = damaged_among([file for file in stage.files if file not in bad], lambda files: _rows(spark, stage, files)[0])
            if not more:
                raise
            bad = {**bad, **more}
            kept = keep_rows(_rows(spark, stage, [file for file in stage.files if file not in bad])[0])
        good = kept.where(F.col(WHY).isNull()).drop(WHY, ORIGINAL)
        # Of what cannot be read the time of its file is all that is known.
        of_file = replace(stage.times, column=_MODIFIED) if stage.times else None
        wrong = kept.where(F.col(WHY).isNotNull())
        reasons = F.array(F.concat(F.lit("the record: "), WHY)).alias(REASONS)
        aside = wrong if stage.as_messages else _in_time(wrong, of_file)
        parts = [aside.select(reasons, ORIGINAL), *_files_aside(spark, stage, bad)]
        return (good if stage.as_messages else _in_time(good, stage.times)), reduce(DataFrame.unionByName, parts)

    def drive(self, spark: SparkSession, stage: DriveRows, rows: DataFrame) -> DataFrame:
        """Never called: the plan refuses it."""
        raise TypeError("rows of files cannot be found by a key")


def _rows(spark: SparkSession, stage: ReadFiles, files: Sequence[File]) -> tuple[DataFrame, dict[File, str]]:
    """Return the rows of files, and why some of them cannot be read."""
    groups, bad = look_at(replace(stage, files=tuple(files)))
    found = []
    for alike, of in groups.items():
        try:
            found.append(rows_of(spark, stage, alike, paths_of(stage, of)))
        except ValueError as why:
            bad |= dict.fromkeys(of, str(why))
        except Py4JJavaError as error:
            if not is_damage(error):
                raise
            bad |= dict.fromkeys(of, f"Spark cannot read it: {foreign_text(error)}")
    return reduce(DataFrame.unionByName, found) if found else no_rows(spark, stage), bad


def _files_aside(spark: SparkSession, stage: ReadFiles, bad: Mapping[File, str]) -> list[DataFrame]:
    times = stage.times
    if times is not None and times.column.lower() != _MODIFIED:
        bad = {file: why for file, why in bad.items() if times.start <= iso_of(file.modified)[:-5] < times.end}
    told = [
        F.struct(
            F.lit(why).alias("why"),
            F.to_json(
                F.struct(
                    F.lit(file.path).alias("path"),
                    F.lit(file.size).alias("size"),
                    F.lit(iso_of(file.modified)).alias("modified"),
                )
            ).alias("file"),
        )
        for file, why in bad.items()
    ]
    if not told:
        return []
    one = spark.range(1).select(F.explode(F.array(*told)).alias("one"))
    reasons = F.array(F.concat(F.lit("the file: "), F.col("one.why"))).alias(REASONS)
    return [one.select(reasons, F.col("one.file").alias(ORIGINAL))]


def _in_time(rows: DataFrame, times: ReadRange | None) -> DataFrame:
    return rows_within(rows, times) if times is not None else rows


def _unreadable(stage: ReadFiles, bad: Mapping[File, str]) -> DataError:
    shown = [f"{file.path} ({counted(file.size, 'byte')}): {why}" for file, why in list(bad.items())[:_SHOWN]]
    more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    return DataError(
        "FILES_UNREADABLE",
        f"{counted(len(bad), 'file')} below {stage.table.name} cannot be read: {'; '.join(shown)}{more}.",
        "Nothing was written, and the checkpoint stays.",
        "Mend it, or take it away; to send such files to the quarantine, and go on: checks: [{name: readable, malformed: true, "
        "severity: drop}]",
        files=[file.path for file in list(bad)[:_SHOWN]],
    )
