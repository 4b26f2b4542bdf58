"""``freshet.airflow`` with a real Airflow, in an environment of its own: what each exit code does, and what runs after what."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import ROOT
from tests.kit.lake import Lake, rows

pytestmark = pytest.mark.nightly

_AIRFLOW = "apache-airflow==3.3.2"
# A file of the folder of DAGs. Called by itself it says of each DAG what it is, and runs one: without a server.
_DAGS = """\
import json
from freshet.airflow import make_dags

globals().update(make_dags({project!r}, name="etl", freshet={freshet!r}, retries=0))
if __name__ == "__main__":
    dags = {{name: one for name, one in globals().items() if name.startswith("etl")}}
    found = {{
        name: {{t.task_id: [sorted(t.downstream_task_ids), t.owner, [o.uri for o in t.outlets]] for t in dag.tasks}}
        for name, dag in dags.items()
    }}
    done = dags["etl"].test()
    states = {{one.task_id: str(one.state) for one in done.get_task_instances()}}
    print("FOUND " + json.dumps({{"dags": found, "states": states}}))
"""


@pytest.fixture(scope="session")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a Python that has Airflow, and the variables of an Airflow whose database is ready."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "freshet-tests" / _AIRFLOW
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _AIRFLOW]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"Airflow cannot be had here: {done.stderr[-300:]}")
        (folder / "done").touch()
    home = tmp_path_factory.mktemp("airflow")
    variables = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "PYTHONPATH": str(ROOT / "framework"),
    }
    subprocess.run([python, "-m", "airflow", "db", "migrate"], env=variables, check=True, capture_output=True)
    return python, variables


def ran(airflow: tuple[Path, dict[str, str]], lake: Lake, *freshet: str) -> tuple[dict[str, Any], str]:
    """Run the project's DAG; returns what its file says, and all that was printed."""
    python, variables = airflow
    file = Path(variables["AIRFLOW_HOME"]) / "dags" / "etl.py"
    file.parent.mkdir(exist_ok=True)
    words = list(freshet) or [sys.executable, "-m", "freshet"]
    file.write_text(_DAGS.format(project=str(lake.project_root), freshet=words))
    done = subprocess.run(
        [python, file], env=variables, cwd=lake.root, capture_output=True, text=True, check=False, timeout=600
    )
    said = next((line for line in done.stdout.splitlines() if line.startswith("FOUND ")), "")
    assert said, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(said.removeprefix("FOUND ")), done.stdout + done.stderr


def test_upstream_runs_first_and_a_failure_is_told(lake: Lake, airflow: tuple[Path, dict[str, str]]) -> None:
    """Two pipelines and a backfill's DAG; then a check that fails: its task fails in the run's words, the next is not begun."""
    every = 'schedule: "*/30 * * * *"\nowner: pay\nbackfill: {event_time: day}\n'
    lake.land(rows(("a", 1, "1"), ("b", 1, "2")))
    lake.pipeline(top=every)
    lake.pipeline("again", source="derived.copy")
    found, _ = ran(airflow, lake)
    assert set(found["dags"]) == {"etl", "etl__backfill"}
    assert found["dags"]["etl"] == {
        "copy": [["again"], "pay", ["freshet://base/derived.copy"]],
        "again": [[], "freshet", ["freshet://base/derived.again"]],
    }
    assert found["states"] == {"copy": "success", "again": "success"}
    assert len(lake.rows("derived.again")) == 2
    lake.pipeline(top=every + "checks: [{name: small, where: amount > 5}]\n")
    lake.land(rows(("c", 1, "9")))
    found, said = ran(airflow, lake)
    assert found["states"] == {"copy": "failed", "again": "upstream_failed"}
    assert "CHECK_FAILED" in said


@pytest.mark.parametrize(("code", "raised"), [(4, "AirflowException"), (6, "AirflowFailException")])
def test_what_another_attempt_can_help_is_tried_again(
    lake: Lake, airflow: tuple[Path, dict[str, str]], tmp_path: Path, code: int, raised: str
) -> None:
    """By exit codes; a program stands in for freshet's, as no run ends with 4 for the asking."""
    lake.pipeline(top='schedule: "0 * * * *"\n')
    program = tmp_path / "stand_in.py"
    program.write_text(
        "import runpy, sys\n"
        # It does not return.
        "if sys.argv[1] == 'dag': runpy.run_module('freshet', run_name='__main__', alter_sys=True)\n"
        f'print(\'{{"error": {{"code": "SOME", "message": "why"}}}}\'); sys.exit({code})\n'
    )
    found, said = ran(airflow, lake, sys.executable, str(program))
    assert found["states"] == {"copy": "failed"}
    assert f"{raised}: freshet run copy ended with {code}: SOME: why" in said
