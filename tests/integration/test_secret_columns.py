"""A whole run whose Python step names a column after a secret: refused before it writes, and said by no letter of it."""

from __future__ import annotations

import json

import pytest

from freshet.secrets import REDACTOR
from tests.kit.lake import Lake, rows

SECRET = "violetkumquat77"
STEP = """from pyspark.sql import functions as F


def transform(inputs, context):
    return inputs["SRC"].withColumn("x_" + context.vars["{name}"], F.lit(1))
"""


@pytest.mark.nightly
def test_nothing_is_written_and_the_name_is_not_said(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S", SECRET)
    for name, empty in (("_names", {}), ("_forms", {}), ("_parts", {}), ("_pattern", None), ("_strict", None)):
        monkeypatch.setattr(REDACTOR, name, empty)
    base = (lake.project_root / "configs/base.yml").read_text("utf-8")
    lake.write_file("configs/base.yml", base.replace("vars: {", 'vars: {stage: sandbox, s: "{{ env.S }}", ', 1))
    lake.write_file("transformers/step.py", STEP.format(name="s"))
    lake.pipeline(transform="[transformers/copy.sql, transformers/step.py]", top="schema_contract: add_columns\n")
    lake.land(rows(("a", 1, "1")))
    result = lake.run()
    assert result.error is not None
    assert result.error.code == "SECRET_IN_NAME"
    assert SECRET[2:10] not in str(result.error) + json.dumps(result.error.as_json())
    assert not (lake.root / "derived/copy/.hoodie").exists()
    # What may be seen names a column as before.
    lake.write_file("transformers/step.py", STEP.format(name="stage"))
    lake.run_ok()
    assert "x_sandbox" in lake.spark.read.format("hudi").load(lake.path("derived.copy")).columns
