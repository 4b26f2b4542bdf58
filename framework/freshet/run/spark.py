"""The Spark session of a pipeline: one of its own in the application that all pipelines of the process share."""

from __future__ import annotations

from pyspark.sql import SparkSession

from freshet.jvm.session import start_session, use_settings
from freshet.jvm.submit import archive_path, write_archive
from freshet.project.model.pipeline import PipelineSpec
from freshet.run.steps.work import Phase


def session_for(spec: PipelineSpec, root: str, phase: Phase, short: bool = False) -> SparkSession:
    """Return a session of the pipeline's own; Spark is started where it does not run yet.

    Args:
        spec: The pipeline.
        root: The project's root.
        phase: Told what goes on, in words.
        short: True where the process will not do more than a small job.
    """
    spark = plain_session(spec, short)
    context, archive = spark.sparkContext, archive_path(root)
    if not (context.master or "").startswith("local") and not any(file.endswith(archive.name) for file in context.listFiles):
        context.addPyFile(str(write_archive(root, archive)))
    ignored = use_settings(spark, spec.spark_conf)
    if ignored:
        phase(f"SETTINGS_IGNORED: Spark runs already without this pipeline's {', '.join(ignored)}; run it by itself for them")
    return spark


def plain_session(spec: PipelineSpec, short: bool = False) -> SparkSession:
    """Return a session of the pipeline's own without its settings and the project's code, for work that runs neither."""
    # A session of its own keeps one pipeline's views and settings from the next; the Spark application is shared.
    spark = start_session(spec.spark_conf, short).newSession()
    name_jobs(spark, spec.name)
    return spark


def name_jobs(spark: SparkSession, pipeline: str) -> None:
    """Put a pipeline's name on the jobs that this thread starts from now on, so that whoever looks can tell whose they are.

    Hudi names the group of each of its jobs anew, and leaves tags alone.
    """
    spark.sparkContext.clearJobTags()
    spark.sparkContext.addJobTag(pipeline)
