"""The pages in a real Chromium: as files, on a desk and a phone, light and dark, with the keyboard, and by axe's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.site.facts import FileProblem
from freshet.site.pages import pages
from freshet.site.write import write_pages
from tests.kit.facts import a_pipeline, a_project, a_standing, full, hostile
from tests.site.conftest import Looked

pytestmark = pytest.mark.nightly


def test_every_page_as_a_person_finds_it(looked_at: Looked, tmp_path: Path) -> None:
    problem = FileProblem(place="pipelines/bad.yml:3", code="UNKNOWN_KEY", message="Unknown key 'inptus'.", hint="inputs")
    bad = a_pipeline("bad", standing=a_standing(state="invalid", tone="bad", label="files are wrong"), problems=(problem,))
    many = [
        a_pipeline(f"more{number}", standing=a_standing(state="new", tone="idle", label="never ran")) for number in range(9)
    ]
    second = full("second", upstream=("payments",), standing=a_standing())
    made = pages(a_project(full(), second, *many, bad, problems=(problem,)))
    write_pages(tmp_path / "site", made)
    found = looked_at(tmp_path / "site")
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


def test_what_users_write_runs_nothing(looked_at: Looked, tmp_path: Path) -> None:
    """Neither as a script nor in the layout: a text without a blank that is longer than a phone is wide."""
    plain = a_project(full(), full("second", upstream=("payments",)))
    write_pages(tmp_path / "site", pages(hostile(plain)))
    # They are higher than any picture may be.
    found = looked_at(tmp_path / "site", is_pictured=False)
    assert found["console"] == []
    assert found["wide"] == []
    own = (tmp_path / "site").as_uri()
    assert [asked for asked in found["asked"] if not asked.startswith((own, "data:"))] == []
