"""What the handlers of a plan's stages hand on to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from freshet.changelog.counts import Counts, Merged, Read
from freshet.event_times.counted import Counted
from freshet.hudi.checkpoint import MAIN
from freshet.plan.checks import CheckTable
from freshet.plan.stages import Plan
from freshet.project.model.pipeline import PipelineSpec
from freshet.quality.gate import Gated
from freshet.quality.outcome import Outcome
from freshet.transform.python import Context

Phase = Callable[[str], None]


@dataclass
class Work:
    """One walk through a plan.

    Args:
        plan: The plan.
        spec: Its pipeline.
        spark: A session of the run's own.
        root: The project's root.
        env: The environment's name.
        phase: Told what goes on, in words.
        all_here: True where no commit follows, so that what Hudi would evaluate within it is evaluated here.
        inputs: What the next step reads, by name.
        source: The rows of the main source, with what identifies them there; None before they are read.
        aside: What the main source gave that is no row of it, for the quarantine; None where there is none.
        events, merged: Of a changelog: how many events were read, and what became of them in the merge; None before that.
        event_times: When the events were that are published; None where nobody counts them.
        gated: What the checks of the batch found; None where none have run.
        outcomes: Of every check that has run.
        table_checks: The checks of the table; None where there are none.
    """

    plan: Plan
    spec: PipelineSpec
    spark: SparkSession
    root: str
    env: str
    phase: Phase
    all_here: bool
    inputs: dict[str, DataFrame] = field(default_factory=dict)
    source: DataFrame | None = None
    aside: DataFrame | None = None
    events: Read | None = None
    merged: Merged | None = None
    event_times: Counted | None = None
    gated: Gated | None = None
    outcomes: tuple[Outcome, ...] = ()
    table_checks: CheckTable | None = None

    @property
    def batch(self) -> DataFrame:
        """Return the rows as the last step left them."""
        return self.inputs[MAIN]

    @batch.setter
    def batch(self, rows: DataFrame) -> None:
        self.inputs[MAIN] = rows

    @property
    def context(self) -> Context:
        """Return what a Python step is told of the run."""
        return Context(
            spark=self.spark,
            pipeline=self.spec.name,
            env=self.env,
            vars=self.spec.variables,
            source_instant=self.plan.window.end_inclusive,
        )

    @property
    def counts(self) -> Counts | None:
        """Return what became of the events of a changelog; None where there is none, or nothing was merged yet."""
        if self.events is None or self.merged is None:
            return None
        aside = self.gated.dropped_count if self.gated is not None else 0
        return Counts(read=self.events, merged=self.merged, aside=aside)

    def view(self, name: str, rows: DataFrame) -> None:
        """Give the next step rows to read by a name, in SQL and in Python."""
        self.inputs[name] = rows
        rows.createOrReplaceTempView(name)
