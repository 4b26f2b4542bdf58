"""Hudi's option names that freshet sets itself, beside the defaults it chooses and why."""

from __future__ import annotations

import json
from collections.abc import Mapping

from framework.spec.model import IndexSpec, PipelineSpec
from framework.state.checkpoint import METADATA_PREFIX

# Where Hudi's own default loses. Any of them can be set otherwise in the YAML's `hoodie:`.
DEFAULTS: Mapping[str, str] = {
    # An upsert of 1% into 2 million rows took 18-21 s with gzip, Hudi's default, and 11 s with zstd (2 cores).
    "hoodie.parquet.compression.codec": "zstd",
    # Column statistics in the metadata table cost a third of a small write; only a reader that skips data by them gains.
    "hoodie.metadata.index.column.stats.enable": "false",
    # Hudi would keep the second row of a key that is inserted twice.
    "hoodie.datasource.insert.dup.policy": "fail",
}

# Hudi deletes the row of a batch that has true in this column.
IS_DELETED = "_hoodie_is_deleted"
RECORD_INDEX_ENABLE = "hoodie.metadata.record.index.enable"


def writer_options(spec: PipelineSpec) -> dict[str, str]:
    """Return every option of the Hudi writer for one pipeline, without the commit's metadata.

    Args:
        spec: The pipeline.

    Returns:
        Hudi key to text, sorted by key.
    """
    target = spec.target
    options = {
        **DEFAULTS,
        **spec.write_options,
        "hoodie.table.name": target.ref.name.split(".")[-1],
        "hoodie.datasource.write.table.type": target.table_type,
        "hoodie.datasource.write.operation": spec.operation,
        "hoodie.datasource.write.recordkey.field": ",".join(target.record_key),
        "hoodie.datasource.write.partitionpath.field": ",".join(target.partition_by),
        "hoodie.datasource.write.precombine.field": target.ordering_field,
        "hoodie.datasource.write.commitmeta.key.prefix": METADATA_PREFIX,
        "hoodie.index.type": spec.index.type,
        **spec.index.parameters,
    }
    if spec.index.type == "RECORD_INDEX":
        options[RECORD_INDEX_ENABLE] = "true"
    if spec.operation != "insert":
        options.pop("hoodie.datasource.insert.dup.policy", None)
    return dict(sorted(options.items()))


def index_record(index: IndexSpec) -> str:
    """Return the text under which a commit remembers its index; Hudi stores neither type nor parameters."""
    return json.dumps({"type": index.type, "parameters": dict(sorted(index.parameters.items()))}, sort_keys=True)
