"""The pages in a real Chromium: as files, on a desk and a phone, light and dark, with the keyboard, and by axe's rules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from freshet.site.facts import FileProblem
from freshet.site.pages import pages
from freshet.site.write import write_pages
from tests.kit.facts import a_pipeline, a_project, a_standing, full, hostile

pytestmark = pytest.mark.nightly

_TOOLS = ("playwright==1.65.2", "axe-playwright-python==0.1.8")


@pytest.fixture(scope="session")
def browser() -> tuple[Path, str]:
    """Return a Python that drives a browser, and the machine's Chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on this machine")
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "freshet-tests" / "-".join(_TOOLS)
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_TOOLS]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"Playwright cannot be had here: {done.stderr[-300:]}")
        (folder / "done").touch()
    return python, chromium


def looked_at(browser: tuple[Path, str], folder: Path) -> dict[str, Any]:
    python, chromium = browser
    drive = Path(__file__).with_name("drive.py")
    done = subprocess.run([python, drive, folder, chromium], capture_output=True, text=True, check=False, timeout=800)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_page_as_a_person_finds_it(browser: tuple[Path, str], tmp_path: Path) -> None:
    problem = FileProblem(place="pipelines/bad.yml:3", code="UNKNOWN_KEY", message="Unknown key 'inptus'.", hint="inputs")
    bad = a_pipeline("bad", standing=a_standing(state="invalid", tone="bad", label="files are wrong"), problems=(problem,))
    many = [
        a_pipeline(f"more{number}", standing=a_standing(state="new", tone="idle", label="never ran")) for number in range(9)
    ]
    second = full("second", upstream=("payments",), standing=a_standing())
    made = pages(a_project(full(), second, *many, bad, problems=(problem,)))
    write_pages(tmp_path / "site", made)
    found = looked_at(browser, tmp_path / "site")
    assert found["console"] == []
    assert found["axe"] == []
    assert found["wide"] == [], "a page as wide as a phone is scrolled in one direction alone"
    own = (tmp_path / "site").as_uri()
    assert [asked for asked in found["asked"] if not asked.startswith((own, "data:"))] == [], "nothing from elsewhere"
    assert {f"{one}" for one in found["clicked"]} == {Path(path).name for path in made if path.endswith(".html")}
    for path, stops in found["keyboard"].items():
        assert stops[0]["name"] == "To the content", path
        assert [stop["name"] for stop in stops if not stop["seen"]] == [], path
        assert {"pipelines/payments.html", "pipelines/bad.html"} <= {stop["href"] for stop in stops}, path
    assert found["skipped"]["href"].startswith("pipelines/"), "behind the heads of the page"
    assert "What to do" in found["bare"], "without the script"
    assert found["filtered"] == ["second"]


def test_what_users_write_runs_nothing(browser: tuple[Path, str], tmp_path: Path) -> None:
    """Neither as a script nor in the layout: a text without a blank that is longer than a phone is wide."""
    plain = a_project(full(), full("second", upstream=("payments",)))
    write_pages(tmp_path / "site", pages(hostile(plain)))
    found = looked_at(browser, tmp_path / "site")
    assert found["console"] == []
    assert found["wide"] == []
    own = (tmp_path / "site").as_uri()
    assert [asked for asked in found["asked"] if not asked.startswith((own, "data:"))] == []
