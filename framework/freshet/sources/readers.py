"""What reads each kind of source, with Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from freshet.project.model.files import FILES
from freshet.project.model.kafka import KAFKA
from freshet.sources.files.read.reader import FilesReader
from freshet.sources.hudi.position import HUDI
from freshet.sources.hudi.read.inputs import drive_rows
from freshet.sources.hudi.read.reader import IDENTITY, read_identified
from freshet.sources.hudi.reads import DriveRows, ReadIncrement
from freshet.sources.kafka.read.reader import KafkaReader
from freshet.sources.protocol import Reader


class HudiReader:
    """Reads a Hudi table as the main source; see ``freshet.sources.protocol.Reader``."""

    identity = IDENTITY

    def read(self, spark: SparkSession, stage: ReadIncrement) -> tuple[DataFrame, DataFrame | None]:
        """Return the latest image of each row that the window's commits changed."""
        return read_identified(spark, stage), None

    def drive(self, spark: SparkSession, stage: DriveRows, rows: DataFrame) -> DataFrame:
        """Return the rows with those of the keys that changed in another table."""
        return drive_rows(spark, stage, rows)


#: By the kind of the source; ``freshet.sources.registry`` refuses one that is not among them before Spark starts.
READERS: dict[str, Reader] = {HUDI: HudiReader(), KAFKA: KafkaReader(), FILES: FilesReader()}
