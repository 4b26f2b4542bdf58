"""``freshet site`` as a user types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from freshet.cli.main import main
from tests.kit.html import faults_of
from tests.kit.project import a_project

Site = Callable[..., Result]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "pages"


@pytest.fixture
def site(root: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.delenv("FRESHET_ENV", raising=False)
    return lambda *words: CliRunner().invoke(main, ["site", "-C", str(root), "--out", str(out), *words])


def test_pages_are_written_and_named(site: Site, root: Path, out: Path) -> None:
    a_project(root, "bad", files={"pipelines/bad.yml": "inptus: {}\n"})
    done = site()
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == f"7 pages of 2 pipelines: {out / 'index.html'}"
    assert "bad: its files have" in done.stdout
    files = {str(path.relative_to(out)): path.read_text() for path in out.rglob("*.*") if path.suffix != ".json"}
    assert faults_of(files) == []
    found = json.loads(site("--output", "json").stdout)
    assert [one["page"] for one in found["pipelines"]] == ["pipelines/payments.html", "pipelines/bad.html"]
    assert set(found["pages"]) < set(files)


def test_commands_on_the_pages_name_the_environment(site: Site, root: Path, out: Path) -> None:
    (root / "configs/prod.yml").write_text("{}\n")
    assert site("--env", "prod").exit_code == 0
    assert "freshet plan payments --env prod" in (out / "index.html").read_text()


def test_what_cannot_be(site: Site, root: Path, out: Path) -> None:
    assert site("--out", str(root)).exit_code == 1, "a folder that holds something else"
    assert site("--env", "prd").exit_code == 3
    assert not out.exists()
