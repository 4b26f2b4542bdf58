"""Where a demo plays: a folder of tables, the commands that a user would type, and the proof at the end."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from pyspark.sql import DataFrame, SparkSession

from freshet.cli.main import main as freshet
from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef

ROOT = Path(__file__).resolve().parents[2]
ENV = "demo"
# What configs/demo.yml says; another folder is passed to each command.
DEFAULT_FOLDER = ROOT / "warehouse" / "demo"
RECOMPUTED = "recomputed"
# Stands in a folder that a demo made, and that the next one may therefore delete.
_MARK = ".freshet-demo"


class DemoFailed(Exception):
    """The demo did not show what it promises."""


class Place:
    """A demo's folder and how it is spoken of.

    Args:
        folder: Folder of the tables; made where it does not exist.
        spark: The session that lands raw data and reads tables; may follow with ``use``.

    Raises:
        DemoFailed: The folder holds something that no demo made.
    """

    def __init__(self, folder: Path, spark: SparkSession | None = None) -> None:
        if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).exists():
            raise DemoFailed(f"{folder} is not empty and was not made by a demo. Nothing was touched. Name another --folder.")
        self.folder = folder
        self._spark = spark
        self._make()

    # --- the folder -----------------------------------------------------------------------------------------------

    @property
    def raw(self) -> Path:
        return self.folder / "raw"

    @property
    def dim(self) -> Path:
        return self.folder / "dim"

    @property
    def spark(self) -> SparkSession:
        if self._spark is None:
            raise DemoFailed("the demo has no Spark session yet")
        return self._spark

    def use(self, spark: SparkSession) -> None:
        """Land and read with this session from now on."""
        self._spark = spark

    def wipe(self) -> None:
        """Delete what an earlier demo left."""
        shutil.rmtree(self.folder)
        self._make()

    def _make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / _MARK).touch()

    # --- words ----------------------------------------------------------------------------------------------------

    def step(self, title: str) -> None:
        """Announce a part of the story."""
        self.say(f"\n== {title}")

    def say(self, words: str) -> None:
        """Print a line; at once, so that it stands before what a command prints."""
        print(words, flush=True)

    def show(self, frame: DataFrame) -> None:
        """Print a few rows."""
        frame.show(truncate=False)
        sys.stdout.flush()

    # --- commands -------------------------------------------------------------------------------------------------

    def arguments(self, *words: str) -> list[str]:
        """Return a freshet command's arguments, with the project and the tables it is about."""
        where = [] if Path.cwd() == ROOT else ["--project", str(ROOT)]
        if self.folder != DEFAULT_FOLDER:
            roots = {"raw_root": self.raw, "derived_root": self.folder / "derived", "dim_root": self.dim}
            # Before the command's own words: of two --set of one key the later wins.
            where += [part for name, path in roots.items() for part in ("--set", f"vars.{name}={path}")]
        # `freshet index` is a group of commands.
        name = 2 if words[0] == "index" else 1
        return [*words[:name], *where, "--env", ENV, *words[name:]]

    def announce(self, arguments: Sequence[str]) -> None:
        """Show a command as a user would type it."""
        self.say(f"$ freshet {shlex.join(arguments)}")

    def freshet(self, *words: str) -> None:
        """Show a freshet command and run it in this process, so that all share one Spark.

        Raises:
            DemoFailed: The command's exit code is not 0.
        """
        self.call(self.arguments(*words))

    def call(self, arguments: Sequence[str]) -> None:
        """Show a freshet command with all its arguments and run it, as ``freshet``.

        Raises:
            DemoFailed: The command's exit code is not 0.
        """
        self.announce(arguments)
        try:
            freshet.main(list(arguments), prog_name="freshet", standalone_mode=False)
            code: object = 0
        except SystemExit as ended:
            code = ended.code or 0
        except click.ClickException as wrong:
            raise DemoFailed(wrong.format_message()) from wrong
        if code:
            raise DemoFailed(f"`freshet {shlex.join(arguments)}` ended with exit code {int(str(code))}.")

    # --- tables ---------------------------------------------------------------------------------------------------

    def path(self, table: str, derived: str = "derived") -> str:
        """Return a table's base path; ``derived`` is the folder that stands for that database."""
        database, name = table.split(".")
        return str(self.folder / (derived if database == "derived" else database) / name)

    def state(self, table: str) -> TableState:
        """Return what the table's timeline tells."""
        state = TimelineState().table(TableRef(table, self.path(table)))
        if state is None:
            raise DemoFailed(f"there is no table {table} in {self.folder}")
        return state

    def position(self, table: str) -> str:
        """Return the main source's position in the target's newest checkpoint; empty where there is none."""
        checkpoint = self.state(table).latest_checkpoint()
        return checkpoint.main.instant if checkpoint and checkpoint.main else ""

    def rows(self, table: str, derived: str = "derived") -> DataFrame:
        """Return the table's rows without Hudi's own columns."""
        rows = self.spark.read.format("hudi").load(self.path(table, derived))
        return rows.drop(*(name for name in rows.columns if name.startswith("_hoodie_")))

    # --- the proof ------------------------------------------------------------------------------------------------

    def recompute(self, *selection: str) -> None:
        """Run the selected pipelines from nothing into tables of their own."""
        shutil.rmtree(self.folder / RECOMPUTED, ignore_errors=True)
        root = self.folder / RECOMPUTED
        shown = root.relative_to(ROOT) if self.folder == DEFAULT_FOLDER else root
        self.freshet("run", *selection, "--drain", "--set", f"vars.derived_root={shown}")

    def prove_equal(self, *tables: str) -> None:
        """Compare tables with their recomputed twins: all columns of all rows, both ways.

        Raises:
            DemoFailed: Some row stands in one of them only.
        """
        for table in tables:
            ours, theirs = self.rows(table), self.rows(table, RECOMPUTED)
            if sorted(ours.dtypes) != sorted(theirs.dtypes):
                raise DemoFailed(f"{table} is NOT equal to its full recompute: its columns differ.")
            theirs = theirs.select(*ours.columns)
            # exceptAll counts: a row that stands twice here and once there is a difference.
            extra, missing = ours.exceptAll(theirs), theirs.exceptAll(ours)
            counts = (extra.count(), missing.count())
            if any(counts):
                self.show(extra.limit(5))
                self.show(missing.limit(5))
                raise DemoFailed(
                    f"{table} is NOT equal to its full recompute: {counts[0]} of its rows are not in the "
                    f"recomputed table, and {counts[1]} rows of that are not in it."
                )
            count = ours.count()
            if not count:
                raise DemoFailed(f"{table} has no rows, which proves nothing.")
            self.say(f"{table}: {count:,} rows, {len(ours.columns)} columns: the same as recomputed, row by row.")


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a freshet process of its own."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}
