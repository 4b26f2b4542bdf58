"""A plan says of the files of its tables what the run says: neither is a second opinion, and neither needs a JVM for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.api.project import Project
from freshet.errors import FreshetError
from freshet.hudi import actions, properties
from freshet.hudi.checkpoint import ORIGIN_KEY, RUN_ID_KEY, encode
from tests.kit.memory import a_checkpoint, at
from tests.kit.timeline import OF_A_PIPELINE, HandMade, commit
from tests.unit.cli.conftest import Freshet
from tests.unit.sinks.test_metadata_table import LISTED, LOG, OF_METADATA, wrote

NAME = "00000001-aa-0_0-12-40_{}.parquet"
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "updated_at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
            {
                "name": "amount",
                "type": [
                    "null",
                    {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
                ],
            },
        ],
    }
)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "WAITS", ())
    monkeypatch.setattr(properties, "WAITS", ())


def written(table: HandMade, moment: int, extra: dict[str, str] | None = None) -> None:
    name = NAME.format(at(moment - 1))
    table.done(moment, commit({"schema": SCHEMA, **(extra or {})}, partition="", path=name, fileSizeInBytes=9, numInserts=10))
    (Path(table.ref.path) / name).write_bytes(b"x" * 9)


def a_lake(root: Path, settings: str = OF_A_PIPELINE) -> tuple[HandMade, HandMade]:
    """Return source and target: one commit of the source is read, another waits."""
    source, target = (HandMade(root / "data" / name, settings) for name in ("raw/events", "derived/payments"))
    for moment in (10, 20):
        written(source, moment)
    position = encode(a_checkpoint(10, source.ref.path))
    written(target, 15, {**position, ORIGIN_KEY: "increment", RUN_ID_KEY: "run-15"})
    return source, target


def gone(table: HandMade, moment: int) -> None:
    (Path(table.ref.path) / NAME.format(at(moment - 1))).unlink()


def cut(table: HandMade, moment: int) -> None:
    (Path(table.ref.path) / NAME.format(at(moment - 1))).write_bytes(b"x" * 8)


def unlisted(table: HandMade) -> None:
    """Make the table one that Hudi lists by a metadata table, of which a log is gone."""
    (Path(table.ref.path) / ".hoodie/hoodie.properties").write_text(LISTED)
    metadata = HandMade(Path(table.ref.path) / ".hoodie/metadata", OF_METADATA)
    wrote(metadata, f"{'0' * 17}_{at(5)}", f"files-0000-0_0-19-18_{'0' * 17}.hfile")
    wrote(metadata, f"{at(8)}_{at(9)}", LOG.format(at(8)))
    (Path(metadata.ref.path) / "files" / LOG.format(at(8))).unlink()


DAMAGE: list[tuple[str, Callable[[HandMade, HandMade], None], str]] = [
    ("of the window, gone", lambda source, target: gone(source, 20), "FILE_MISSING"),
    ("of the window, cut", lambda source, target: cut(source, 20), "FILE_CORRUPT"),
    ("of the target, gone", lambda source, target: gone(target, 15), "FILE_MISSING"),
    ("of the target, cut", lambda source, target: cut(target, 15), "FILE_CORRUPT"),
    ("of the source's metadata table", lambda source, target: unlisted(source), "FILE_MISSING"),
    ("of the target's metadata table", lambda source, target: unlisted(target), "FILE_MISSING"),
]


@pytest.mark.parametrize(("then", "code"), [one[1:] for one in DAMAGE], ids=[one[0] for one in DAMAGE])
def test_plan_run_status_and_python_refuse_the_same(
    freshet: Freshet,
    root: Path,
    then: Callable[[HandMade, HandMade], None],
    code: str,
) -> None:
    """Kind: a dry run that says what the run will not do. Files of what is read, whole, by window or at a version, and of what
    is written; and the metadata table, by which Hudi lists both.
    """
    then(*a_lake(root))
    for command in ("plan", "run"):
        result = freshet(command, "payments", "--output", "json")
        assert (result.exit_code, code in result.stdout) == (5, True), (command, result.stdout)
    assert json.loads(freshet("status", "--output", "json").stdout)["pipelines"][0]["state"] == code
    for call in (Project.load(root).plan, Project.load(root).run):
        with pytest.raises(FreshetError) as refused:
            call("payments")
        assert refused.value.code == code


def test_of_an_idle_pipeline_no_file_is_looked_at(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the run, which reads and writes nothing then; and so a tick without news stays cheap."""
    source, target = a_lake(root)
    written(target, 25, {**encode(a_checkpoint(20, source.ref.path)), ORIGIN_KEY: "increment", RUN_ID_KEY: "run-25"})
    gone(source, 20)
    gone(target, 25)
    assert "nothing to do" in freshet("run", "payments").stderr
    assert freshet("plan", "payments").exit_code == 0
    assert json.loads(freshet("status", "--output", "json").stdout)["pipelines"][0]["state"] == "up_to_date"


def test_a_whole_lake_passes(root: Path) -> None:
    a_lake(root)
    plan = Project.load(root).plan("payments").plan
    assert plan is not None
    assert plan.window.requested == (at(19),)
