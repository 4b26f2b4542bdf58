"""The same pipelines on a Spark standalone cluster, jars and project files shipped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.jvm.java import find_java_home
from tests.kit.cluster import pyspark_home, settings
from tests.kit.lake import Lake, rows

ROOT = Path(__file__).resolve().parents[2]
UDF_STEP = """\
from pyspark.sql import functions as F
from transformers.helpers import shout

def transform(inputs, context):
    # Runs in an executor, which has to import the helper from the shipped files.
    return inputs["SRC"].withColumn("name", F.udf(shout)("id"))
"""


@pytest.fixture
def shouting(lake: Lake) -> Lake:
    lake.write_file("transformers/helpers.py", "def shout(text):\n    return text.upper()\n")
    lake.write_file("transformers/shout.py", UDF_STEP)
    lake.pipeline(columns=", name STRING", transform="[transformers/copy.sql, transformers/shout.py]")
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")))
    return lake


def test_run_on_a_cluster(shouting: Lake, master: str) -> None:
    command = [sys.executable, "-m", "freshet", "run", "copy", "--project", str(shouting.project_root), "--output", "json"]
    done = subprocess.run([*command, *settings(master)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["inserts"] == 2
    assert shouting.rows("derived.copy", "id", "name") == [("a", "A"), ("b", "B")]


@pytest.mark.nightly
def test_the_printed_spark_submit_command_runs_the_same_job(shouting: Lake, master: str) -> None:
    compiled = subprocess.run(
        [
            sys.executable,
            "-m",
            "freshet",
            "compile",
            "copy",
            "--spark-submit",
            "--output",
            "json",
            "--project",
            str(shouting.project_root),
            *settings(master),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    words = json.loads(compiled.stdout)["command"]
    assert words[0] == "spark-submit"
    spark_submit = shutil.which("spark-submit", path=str(pyspark_home() / "bin"))
    assert spark_submit is not None
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(pyspark_home()),
    }
    done = subprocess.run(
        [spark_submit, *words[1:]], env=environment, cwd=shouting.root, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert shouting.rows("derived.copy", "id", "name") == [("a", "A"), ("b", "B")]
