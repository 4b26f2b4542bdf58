"""What a newcomer does in the first ten minutes: from a wheel in an empty folder to a changed pipeline, without Spark code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import ROOT

_OF_THE_WHEEL = ("framework", "setup.cfg", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder with what the wheel installs, its dependencies left out: they are those of the tests."""
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    for name in _OF_THE_WHEEL:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)  # type: ignore[operator]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(source)], check=True)
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), *map(str, tmp_path.glob("*.whl"))], check=True)
    return site


def run(installed: Path, folder: Path, *words: str) -> Any:
    command = [sys.executable, str(installed / "bin/freshet"), *words, "--output", "json"]
    done = subprocess.run(
        command, cwd=folder, text=True, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": str(installed)}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_a_wheel_holds_what_a_new_project_is_made_of(installed: Path, tmp_path: Path) -> None:
    """Templates, Java sources and lists of jars are no Python, and a wheel may lack them; with data and Spark: below."""
    source = ROOT / "framework/freshet"
    files = [file.relative_to(source) for file in source.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    lacking = {str(file) for file in files if not (installed / "freshet" / file).is_file()}
    assert lacking == set()
    folder = tmp_path / "empty"
    folder.mkdir()
    run(installed, folder, "init", ".")
    assert [one["name"] for one in run(installed, folder, "validate")["pipelines"]] == ["order_totals"]


def test_from_a_wheel_to_a_changed_pipeline(installed: Path, tmp_path: Path) -> None:
    """Each command as ``init`` and the README print it; the numbers are those of the sample files."""
    home = tmp_path / "empty"
    home.mkdir()

    def freshet(*words: str, folder: Path = home) -> Any:
        return run(installed, folder, *words)

    made = freshet("init", "mine", "--with-sample-data")
    assert (made["landed"]["inserted"], made["steps"][0]) == (3000, "cd mine")
    mine = home / "mine"
    steps = [step.split()[1:] for step in made["steps"][1:]]
    assert [step[0] for step in steps] == ["run", "show", "land", "run"]
    first, show, land, then = steps
    freshet("validate", folder=mine)
    assert freshet("test", folder=mine)["failed"] == 0
    assert freshet(*first, folder=mine)["runs"][0]["inserts"] == 3000
    assert len(freshet(*show, folder=mine)["rows"]) == 5
    landed = freshet(*land, folder=mine)
    assert [landed[what] for what in ("inserted", "updated", "deleted")] == [100, 150, 1]
    assert landed["next"] == "freshet run order_totals"
    changed = freshet(*then, folder=mine)["runs"][0]
    assert (changed["inserts"], changed["updates"], changed["deletes"]) == (100, 150, 1)
    assert freshet(*land, folder=mine)["outcome"] == "idle"
    sql = mine / "transformers/order_totals.sql"
    sql.write_text(sql.read_text().replace("amount,", "CAST(-1 AS DECIMAL(10,2)) AS amount,"))
    freshet("backfill", "order_totals", "--start", "2026-01-05", "--end", "2026-01-16", folder=mine)
    assert freshet("show", "order_totals", "--where", "amount <> -1", folder=mine)["rows"] == []
    assert freshet("show", "order_totals", "--limit", "10000", "--columns", "id", folder=mine)["rows"][3098:] != []
