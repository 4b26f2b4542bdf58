"""Tell a catalogue of a target where that is due."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from freshet.errors import SyncError
from freshet.hudi.options import writer_options
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.rules.sync import sync_tools
from freshet.run.sync_due import is_due, mark_done
from freshet.sinks.catalogue import sync_catalogue


def sync_if_due(spec: PipelineSpec, spark: SparkSession, phase: Callable[[str], None]) -> SyncError | None:
    """Tell the catalogues of the target as it stands, where they are to be told; returns what failed.

    Args:
        spec: The pipeline.
        spark: A session.
        phase: Told what goes on, in words.
    """
    if not is_due(spec):
        return None
    phase(f"telling the catalogue of {spec.target.ref.name}")
    try:
        sync_catalogue(spark, spec.target.ref, sync_tools(spec.write_options), writer_options(spec))
    except SyncError as error:
        return error
    mark_done(spec)
    return None
