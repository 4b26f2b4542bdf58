"""The pages as ``freshet serve`` has them, in a real Chromium: every link, every rule, and what its buttons ask for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from freshet.serve.pauses import is_paused, keep_pause
from tests.kit.project import PIPELINE, a_project
from tests.kit.waiting import Kept
from tests.site.conftest import Looked

pytestmark = pytest.mark.nightly
TOKEN = "a-token-of-some-length"


def project_of(root: Path) -> None:
    """Write pipelines of every kind whose looks start no Spark: at rest, paused, failing, invalid."""
    top = "checks: [{name: large, severity: drop, where: amount > 9}]\ndescription: Payments, as the shops report them.\n"
    payments = PIPELINE.format(name="payments", source="events")
    a_project(root)
    accepts = (root / "pipelines/payments.yml").read_text().splitlines()[-1]
    (root / "pipelines/payments.yml").write_text(f"{top}{payments}{accepts}\n")
    reads = PIPELINE.format(name="refunds", source="x").replace('"{{ var.raw_root }}/x"', '"{{ var.derived_root }}/payments"')
    a_project(root, "refunds", files={"pipelines/refunds.yml": f"{reads}{accepts}\n"})
    often = PIPELINE.format(name="stuck", source="nowhere") + "continuous: {min_interval: 1h}\n"
    a_project(root, "stuck", files={"pipelines/stuck.yml": f"{often}{accepts}\n"})
    a_project(root, "wrong", files={"pipelines/wrong.yml": "inptus: 1\n"})
    kept = Kept(root)
    row = {"id": "k1", "amount": "17.20", "password": "swordfish"}
    kept.wrote(20, "a", ("r", "amount > 9", json.dumps(row)), ("r", "amount > 9", json.dumps({**row, "id": "k2"})))
    kept.published(21)
    keep_pause(spec_of(root, "refunds"), True)


def spec_of(root: Path, name: str) -> PipelineSpec:
    return load_project(root, names=(name,), environ=os.environ).pipelines[0]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    project_of(tmp_path)
    words = ["serve", "payments", "refunds", "stuck", "wrong", "--port", "0", "--rows", "5", "-C", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "freshet", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FRESHET_SERVE_TOKEN": TOKEN},
    )
    assert process.stderr is not None
    found = next(found for line in process.stderr if (found := re.search(r"SERVE_LISTENING: .*(http://\S+)", line)))
    yield found[1]
    process.terminate()
    process.communicate(timeout=60)


def test_every_served_page_as_a_person_finds_it(looked_at: Looked, address: str, tmp_path: Path) -> None:
    found = looked_at(address, TOKEN)
    assert found["console"] == []
    assert found["axe"] == []
    assert found["wide"] == []
    assert [one for one in found["asked"] if not one.startswith((f"{address}/", "data:"))] == [], "nothing from elsewhere"
    names = (
        "index",
        "dag",
        "runs",
        "backfills",
        "services",
        *(f"pipelines/{one}" for one in ("payments", "refunds", "stuck", "wrong")),
    )
    assert set(found["clicked"]) == {"/", *(f"/{name}.html" for name in names)}
    assert '{"id": "k2", "amount": "17.20", "password": "..."}' in found["bare"], "without the script"
    assert found["missing"] == "No such page"
    assert "curl -X POST" not in found["bare"], "what is folded stays so"
    assert "SERVE_TOKEN_WRONG" in found["refused"]
    assert found["answered"] == "pause: it is paused now"
    assert found["stays"] == {"open": True, "focus": "pause", "token": TOKEN}
    assert found["kept"] == ["token"], "as long as the tab"
    assert not is_paused(spec_of(tmp_path, "payments"))
    assert is_paused(spec_of(tmp_path, "refunds"))
    assert found["stopped"] == {"meanwhile": 0, "stopped": "Go on refreshing", "then": "Stop refreshing"}
