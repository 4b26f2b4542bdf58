"""A pipeline over files is planned, described and told where it is, over folders of its own: no JVM."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from freshet.errors import FreshetError
from freshet.hudi.checkpoint import CHECKPOINT_KEY, MAIN, STREAMER_V2_KEY, Checkpoint, decode, encode
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.stages import Commit, Plan
from freshet.project.model.checks import CheckSpec, MalformedRule
from freshet.sources.files.look.by_hand import text_by_hand
from freshet.sources.files.look.upto import NAME, Upto
from freshet.sources.files.position import FilesPosition
from freshet.sources.files.reads import ReadFiles
from freshet.sources.hudi.reads import ReadRange
from freshet.sources.registry import source_of
from freshet.status.status import pipeline_status
from freshet.storage.files import ArrowStorage, LocalStorage
from freshet.storage.remote import remote_storage
from tests.kit.files import a_files_spec
from tests.kit.memory import CITIES, a_commit, a_spec, a_table_state, a_target

TABLE = a_table_state([a_commit(3)], ref=CITIES)
OLD = 1_700_000_000


def put(root: Path, name: str, age: int = 0, text: str = "{}\n") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (OLD - age, OLD - age))


def planned(root: Path, target: TableState | None = None, full_refresh: bool = False, checks: Any = (), **changes: Any) -> Plan:
    spec = a_spec(source=a_files_spec(str(root), **changes), checks=checks)
    return compile_plan(spec, lake(target), RunRequest(full_refresh=full_refresh))


def lake(target: TableState | None = None) -> MemoryState:
    return MemoryState({one.ref.path: one for one in (TABLE, target) if one is not None})


def committed(plan: Plan) -> TableState:
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    return a_target(extra=dict(commit.metadata))


def read_of(plan: Plan) -> list[str]:
    stage = plan.stages[0]
    assert isinstance(stage, ReadFiles)
    return [file.path for file in stage.files]


def refusal(root: Path, target: TableState | None = None, **changes: Any) -> str:
    with pytest.raises(FreshetError) as refused:
        planned(root, target, **changes)
    return refused.value.code


def test_runs_go_on_from_the_files_that_the_commit_before_remembers(tmp_path: Path) -> None:
    for name in ("a.json", "day=1/b.json", "day=2/c.json"):
        put(tmp_path, name)
    first = planned(tmp_path, max_files=2)
    assert read_of(first) == ["a.json", "day=1/b.json"]
    second = planned(tmp_path, committed(first), max_files=2)
    assert read_of(second) == ["day=2/c.json"]
    idle = planned(tmp_path, committed(second))
    assert (idle.window.kind, idle.stages) == ("idle", ())
    put(tmp_path, "late.json", age=3600)
    assert read_of(planned(tmp_path, committed(second))) == ["late.json"]
    put(tmp_path, "too late.json", age=90_000)
    assert refusal(tmp_path, committed(second)) == "FILES_LATE"
    warned = planned(tmp_path, committed(second), too_late="warn")
    assert [notice.code for notice in warned.notices] == ["FILES_LATE"]
    put(tmp_path, "a.json", text="{} {}\n")
    assert refusal(tmp_path, committed(second)) == "FILES_REWRITTEN"


def test_the_plan_says_what_is_read_and_what_is_left(tmp_path: Path) -> None:
    put(tmp_path, "a.json")
    put(tmp_path, "b.json")
    (tmp_path / "now.json").write_text("{}")
    plan = planned(tmp_path, max_files=1)
    text = plan_text(plan)
    assert "1 file of 3 B from the beginning: no checkpoint yet; 1 file modified too short a time ago, left alone" in text
    assert (
        "files that were modified from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:20.000Z; 1 file left for the next run"
        in text
    )
    assert "none -> 2023-11-14T22:13:19.999Z" in text
    stage = plan_json(plan)["stages"][0]
    assert (stage["stage"], list(stage["files"])) == (
        "read_files",
        [{"path": "a.json", "size": 3, "modified": OLD * 1000}],
    )


def test_a_folder_that_is_not_there_and_one_without_a_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == "SOURCE_MISSING"
    plan = planned(tmp_path)
    assert (plan.window.kind, plan.stages) == ("idle", ())


def test_a_full_refresh_reads_all_that_is_there(tmp_path: Path) -> None:
    for name in "abc":
        put(tmp_path, name)
    target = committed(planned(tmp_path))
    plan = planned(tmp_path, target, full_refresh=True, max_files=1)
    assert (plan.window.kind, read_of(plan)) == ("whole_table", ["a", "b", "c"])


def test_a_backfill_by_the_time_of_files_reads_those_alone_and_by_a_column_all(tmp_path: Path) -> None:
    put(tmp_path, "a", age=86_400)
    put(tmp_path, "b")
    spec = a_spec(source=a_files_spec(str(tmp_path)))

    def read(column: str) -> list[str]:
        times = ReadRange(
            view="SRC",
            table=spec.source.table,
            as_of="",
            column=column,
            start="2023-11-14T00:00:00",
            end="2023-11-15T00:00:00",
        )
        stage = source_of(spec, lake()).read_range(times)
        assert isinstance(stage, ReadFiles)
        assert stage.times == times
        return [file.path for file in stage.files]

    assert (read("_file.modified"), read("day")) == (["b"], ["a", "b"])


def test_what_cannot_be_read_goes_to_the_quarantine_where_a_check_sends_it_there(tmp_path: Path) -> None:
    put(tmp_path, "a")

    def rule(severity: Any) -> str:
        stage = planned(tmp_path, checks=(CheckSpec(name="readable", severity=severity, rule=MalformedRule(), line=1),)).stages[
            0
        ]
        assert isinstance(stage, ReadFiles)
        return stage.rule

    assert (rule("drop"), rule("fail")) == ("readable", "")


def test_the_status_says_how_many_files_wait_and_since_when(tmp_path: Path) -> None:
    put(tmp_path, "a")
    target = committed(planned(tmp_path))
    put(tmp_path, "b", age=-60)
    put(tmp_path, "c")
    spec = a_spec(source=a_files_spec(str(tmp_path)))
    status = pipeline_status(spec, lake(target))
    assert (status.commits_behind, status.checkpoint) == (2, "2023-11-14T22:13:20.000Z")


def test_of_tables_that_go_on_together_the_commit_and_the_status_tell_the_place(tmp_path: Path) -> None:
    root, files = tmp_path / "t", [f"{number:020d}.json.gz" for number in (1, 5, 9)]
    for name in files:
        put(root, name)

    def place(number: int) -> None:
        (tmp_path / NAME).write_text(json.dumps(Upto(position=f"0/{number}", number=number, folders=["t"]).as_json()))

    def captured(target: TableState) -> str:
        return pipeline_status(a_spec(source=a_files_spec(str(root))), lake(target)).captured

    place(9)
    half = planned(root, max_files=1)
    assert (read_of(half), captured(committed(half))) == (files[:1], "")
    plan = planned(root)
    target = committed(plan)
    assert (read_of(plan), captured(target)) == (files[:2], "0/9")
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    assert json.loads(commit.metadata[CHECKPOINT_KEY])["positions"][MAIN]["captured"] == "0/9"
    place(10)
    assert captured(target) == "0/9", "where it was is known from its commit"


# --- checkpoints ----------------------------------------------------------------------------------------------------------


def test_a_position_goes_with_the_commit_and_to_hoodiestreamer_and_back(tmp_path: Path) -> None:
    put(tmp_path, "a")
    plan = planned(tmp_path)
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    assert commit.metadata[STREAMER_V2_KEY] == str(OLD * 1000)
    assert decode(commit.metadata) == plan.checkpoint_after
    assert json.loads(commit.metadata[CHECKPOINT_KEY])["positions"]["SRC"]["kind"] == "files"
    # A table of HoodieStreamer's: files up to its time count as read, also under the older key.
    put(tmp_path, "b", age=-1)
    put(tmp_path, "c", age=5)
    for key in (STREAMER_V2_KEY, "deltastreamer.checkpoint.key"):
        handed = a_target(extra={key: str(OLD * 1000)})
        assert read_of(planned(tmp_path, handed)) == ["b"]


def test_a_checkpoint_set_by_hand(tmp_path: Path) -> None:
    put(tmp_path, "a", age=60)
    put(tmp_path, "b")
    spec = a_spec(source=a_files_spec(str(tmp_path)))
    target = committed(planned(tmp_path))

    def after(text: str | None) -> Plan:
        plan = compile_override(spec, lake(target), None if text is None else text_by_hand(text))
        return planned(tmp_path, committed(plan))

    assert read_of(after(None)) == read_of(after("earliest")) == ["a", "b"]
    assert read_of(after("2023-11-14T22:12:30Z")) == ["b"]
    assert after("latest").window.kind == "idle"
    for wrong in ("20231114221230000", "tomorrow", ""):
        with pytest.raises(ValueError, match="a position in files is"):
            text_by_hand(wrong)
    with pytest.raises(FreshetError) as refused:
        source_of(spec, lake(target)).refuse_ahead(f"{time.gmtime().tm_year + 1}-01-01T00:00:00Z")
    assert refused.value.code == "CHECKPOINT_AHEAD"


def test_a_checkpoint_of_another_source_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "one", "a")
    put(tmp_path / "other", "a")
    assert refusal(tmp_path / "other", committed(planned(tmp_path / "one"))) == "CHECKPOINT_OF_ANOTHER_TABLE"
    assert refusal(tmp_path / "other", a_target(extra={STREAMER_V2_KEY: "20260101000000000"})) == "CHECKPOINT_OF_ANOTHER_KIND"


@pytest.mark.parametrize(
    "changed",
    [
        {"minutes": {"1": "!"}},
        {"minutes": {"1": "AAAA"}},
        {"days": {"1": [1, "-1"]}},
        {"days": {"1": [1, "f" * 25]}},
        {"mark": "1"},
        {"whole": -1},
    ],
)
def test_a_garbled_position_is_refused(changed: dict[str, Any]) -> None:
    entries = encode(Checkpoint({MAIN: FilesPosition(of="r", mark=1)}))
    raw = json.loads(entries[CHECKPOINT_KEY])
    raw["positions"]["SRC"].update(changed)
    with pytest.raises(FreshetError) as refused:
        decode({CHECKPOINT_KEY: json.dumps(raw)})
    assert refused.value.code == "CHECKPOINT_UNREADABLE"


# --- listings -------------------------------------------------------------------------------------------------------------


def test_every_storage_lists_alike(tmp_path: Path) -> None:
    root = tmp_path / "50% #1"
    for name in ("a b", "x/y/[c]", "x/d%20e", "x/.hidden"):
        put(root, name)
    (root / "empty").mkdir()
    expected = [(name, 3, OLD * 1000) for name in ("a b", "x/.hidden", "x/d%20e", "x/y/[c]")]
    assert sorted(LocalStorage().below(str(root))) == expected
    uri = f"file://{root}"
    assert sorted(ArrowStorage(uri).below(uri)) == expected
    remote = remote_storage(uri)
    try:
        assert sorted(remote.below(f"{uri}/")) == expected
        with pytest.raises(FileNotFoundError):
            remote.below(f"{uri}/none")
    finally:
        remote.end()
    for storage in (LocalStorage(), ArrowStorage(uri)):
        with pytest.raises(FileNotFoundError):
            storage.below(f"{uri}/none")


def test_links_are_followed_and_end(tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/a")
    root = tmp_path / "root"
    put(root, "b")
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "round").symlink_to(root)
    (root / "nowhere").symlink_to(tmp_path / "none")
    assert sorted(path for path, *_ in LocalStorage().below(str(root))) == ["b", "linked/a"]
