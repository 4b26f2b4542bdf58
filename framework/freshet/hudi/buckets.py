"""How many buckets a partition should have, and whether those of a table hold what they should, as its newest commits tell."""

from __future__ import annotations

from itertools import islice

from freshet.hudi.keys.options import BUCKET_COUNT
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import PipelineSpec

# What Hudi fills a base file up to where it may choose (hoodie.parquet.max.file.size).
_WANTED_BYTES = 120 << 20
# A run pays some 50 ms of a core for each file group that it touches, whatever it holds: of fewer nobody notices.
_MANY_FILES = 100
_SMALL_BYTES = 10 << 20
# Each update of COPY_ON_WRITE, and each compaction, writes a whole base file again, in one task.
_LARGE_BYTES = 1 << 30
# By default every sixth commit of MERGE_ON_READ is a compaction, which writes base files.
_NEWEST = 6


def buckets_for(size: float) -> int:
    """Return how many buckets a partition should have.

    Of 3,000 changed rows in 30 partitions of 8 million rows a run takes 8 s with one bucket each, and 14 s with eight (2 cores;
    ``python -m tests.benchmarks --only scale-out``).

    Args:
        size: Bytes of its base files; of all base files where the table has no partitions.
    """
    return max(1, round(size / _WANTED_BYTES))


def bucket_advice(spec: PipelineSpec, target: TableState | None) -> str:
    """Return what should be changed about the number of buckets; empty where nothing, or where no size is known.

    Args:
        spec: The pipeline.
        target: Its target; its newest commits are looked at, as far as they wrote base files.
    """
    if spec.index.type != "BUCKET" or target is None:
        return ""
    infos = (target.info(instant) for instant in islice(reversed(target.commits), _NEWEST))
    info = next((info for info in infos if info.base_files), None)
    if info is None:
        return ""
    size, count = info.base_bytes // info.base_files, int(spec.index.parameters[BUCKET_COUNT])
    fitting = buckets_for(count * size)
    each = f"{size / (1 << 20):,.1f} MB each"
    seen = f"{spec.name}: the base files of {info.base_files:,} buckets that a commit wrote hold {each}"
    change = f"Set {BUCKET_COUNT}: {fitting} instead of {count}, then: freshet index migrate {spec.name} --to bucket"
    if size < _SMALL_BYTES and info.base_files >= _MANY_FILES and fitting < count:
        return f"BUCKETS_SMALL: {seen}, and each one that a run touches takes some 50 ms of a core. {change}"
    if size > _LARGE_BYTES:
        return f"BUCKETS_LARGE: {seen}, and a changed row has a whole one written again. {change}"
    return ""
