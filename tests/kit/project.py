"""Small builders of what tests need, with only what a test cares about spelled out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from freshet.project.shape.strategies import Reason

DDL = """\
CREATE TABLE derived.{name} (
  id STRING NOT NULL,
  amount DECIMAL(10,2),
  updated_at TIMESTAMP
)
USING hudi
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'updated_at', type = 'cow');
"""
PIPELINE = """\
ddl: ddl/{name}.sql
transform: transformers/{name}.sql
hoodie:
  hoodie.streamer.source.hoodieincr.path: "{{{{ var.raw_root }}}}/{source}"
  hoodie.streamer.source.hoodieincr.missing.checkpoint.strategy: READ_UPTO_LATEST_COMMIT
  hoodie.bucket.index.num.buckets: 2
"""
#: What a test that is about something else accepts: all that may make increments differ from a recompute.
ACCEPTS = f"accepts: [{', '.join(f'{{code: {code}, why: not this test}}' for code in get_args(Reason))}]\n"
BASE = """\
vars: {raw_root: data/raw, derived_root: data/derived}
warehouse: {raw: "{{ var.raw_root }}", derived: "{{ var.derived_root }}"}
"""
SQL = "SELECT id, amount, updated_at FROM <SRC>\n"


def a_project(
    folder: Path,
    name: str = "payments",
    *,
    source: str = "events",
    files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a minimal valid project of one pipeline, and then ``files`` over it.

    Args:
        folder: Where; usually pytest's ``tmp_path``.
        name: The pipeline, its target table (``derived.<name>``) and its files.
        source: Table below ``raw`` that it reads.
        files: Further or other contents by path relative to the project.

    Returns:
        The project's folder.
    """
    contents: dict[str, str | bytes] = {
        "configs/base.yml": BASE,
        f"ddl/{name}.sql": DDL.format(name=name),
        f"pipelines/{name}.yml": PIPELINE.format(name=name, source=source) + ACCEPTS,
        f"transformers/{name}.sql": SQL,
    }
    for path, content in (contents | dict(files or {})).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
