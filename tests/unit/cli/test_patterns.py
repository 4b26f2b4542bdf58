"""``freshet init --pattern`` without Spark: what it writes validates, alone and together, and is the same every time."""

from __future__ import annotations

import configparser
import csv
import hashlib
import io
import json
from pathlib import Path

import pytest

from freshet.cli.patterns import PATTERNS, contents_of, steps_of
from freshet.cli.samples import files_of
from tests.unit.cli.conftest import Freshet, parsed

CLI = Path(__file__).parents[3] / "framework" / "freshet" / "cli"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_makes_a_project_that_validates(
    freshet: Freshet,
    tmp_path: Path,
    pattern: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its cases are read too, and every pipeline has some, one of them without rows."""
    monkeypatch.setattr("freshet.cli.test._run", lambda *_: 0)
    folder = tmp_path / "new"
    made = freshet("init", str(folder), "--pattern", pattern, "--output", "json")
    assert parsed(made)["next"] == f"cd {folder}"
    found = parsed(freshet("validate", "-C", str(folder), "--output", "json"))["pipelines"]
    assert PATTERNS[pattern].target in {one["target"] for one in found}
    read = freshet("test", "-C", str(folder))
    assert read.exit_code == 0, read.output
    for one in found:
        cases = (folder / f"pipelines/tests/{one['name']}.yml").read_text("utf-8")
        assert "  no_rows:" in cases
        first = (folder / one["file"]).read_text("utf-8").splitlines()[0]
        assert first == "# yaml-language-server: $schema=../configs/pipeline.schema.json"


def test_patterns_go_into_a_project_that_stands(freshet: Freshet, root: Path) -> None:
    """One after the other and several at once, beside a pipeline of its own; one that stands is not overwritten."""
    config = (root / "configs/base.yml").read_text("utf-8") + "hoodie: {hoodie.index.type: BUCKET}\n"
    (root / "configs/base.yml").write_text(config, encoding="utf-8")
    names = list(PATTERNS)
    assert freshet("init", str(root), "--pattern", names[0]).exit_code == 0
    assert freshet("init", str(root), *(word for name in (*names[1:], names[1]) for word in ("--pattern", name))).exit_code == 0
    assert (root / "configs/base.yml").read_text("utf-8") == config
    found = {one["name"]: one for one in parsed(freshet("validate", "--output", "json"))["pipelines"]}
    assert len(found) == 8
    # Where this project has its raw tables.
    assert found["ride_income"]["source"] == str(root / "data/raw/rides")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    again = freshet("init", str(root), "--pattern", names[0], "--output", "json")
    assert (again.exit_code, parsed(again)["error"]["code"]) == (1, "FILE_EXISTS")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "words",
    [
        ("--pattern", "facts"),
        ("--pattern", "fact", "--pipeline", "sales"),
        ("--pattern", "fact", "--source", "raw.orders"),
        ("--pattern", "fact", "--with-sample-data"),
        ("--pattern", "fact", "--partition-size", "100MB"),
    ],
)
def test_wrong_command_lines(freshet: Freshet, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert freshet("init", str(tmp_path / "new"), *words).exit_code == 2
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_sample_data_is_the_same_every_time(pattern: str) -> None:
    """And has what it is to show: keys once in a file, changes of rows that are there, new rows, and deleted ones."""
    files = files_of(pattern)
    assert files == files_of(pattern)
    for table, options in PATTERNS[pattern].landings.items():
        key = options.split("--key ")[1].split(" ")[0].split(",")
        first, changes = (list(csv.DictReader(io.StringIO(files[f"data/{table}{end}.csv"]))) for end in ("", "_changes"))
        assert 200 < len(first) < 2000
        keys, changed = ([tuple(row[name] for name in key) for row in rows] for rows in (first, changes))
        assert len(set(keys)) == len(keys)
        assert len(set(changed)) == len(changed)
        gone = {one for one, row in zip(changed, changes, strict=True) if row["_hoodie_is_deleted"] == "true"}
        assert gone
        assert gone <= set(keys)
        assert (set(changed) - gone) & set(keys) or table == "tips"
        assert set(changed) - set(keys) or table == "points"


def test_sample_data_stays_what_it_was() -> None:
    """It is drawn by Python's generator, of which every version has to give the same."""
    told = json.dumps({name: files_of(name) for name in PATTERNS}, sort_keys=True)
    assert hashlib.sha256(told.encode()).hexdigest()[:16] == "eeccac5a73f6898d"


def test_help_names_every_pattern(freshet: Freshet) -> None:
    told = " ".join(freshet("init", "--help").stdout.split())
    assert all(f"{name} {pattern.says}" in told for name, pattern in PATTERNS.items())


def test_what_comes_next_makes_every_table_that_is_read(freshet: Freshet, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    freshet("init", str(folder), *(f"--pattern={name}" for name in PATTERNS))
    steps = steps_of(list(PATTERNS))
    landed = {step.split()[2].removeprefix("raw.") for step in steps if step.startswith("freshet land raw.")}
    seeds = {path.stem.removeprefix("raw.") for path in (folder / "seeds").glob("*.csv")}
    read = {
        line.split("/")[-1].rstrip('"')
        for path in (folder / "pipelines").glob("*.yml")
        for line in path.read_text("utf-8").splitlines()
        if "hoodieincr.path" in line
    }
    assert read <= landed
    assert seeds == {"stores"}
    assert "freshet land --seeds" in steps
    assert all((folder / word).is_file() for step in steps for word in step.split() if word.startswith("data/"))


def test_every_template_is_shipped() -> None:
    """The wheel has what setup.cfg names."""
    config = configparser.ConfigParser()
    config.read(CLI.parents[2] / "setup.cfg")
    globs = [one.strip() for one in config["options.package_data"]["freshet.cli"].split(",")]
    shipped = {path for one in globs for path in CLI.glob(one) if path.is_file()}
    assert {path for path in (CLI / "scaffold").rglob("*") if path.is_file()} == shipped
    assert all(contents_of(name) for name in PATTERNS)
