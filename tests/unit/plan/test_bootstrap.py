"""A changelog's table whose pipeline names a backup: the first plan loads that, the later ones read the log."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freshet.changelog.log_place import read_place
from freshet.changelog.reference import Given
from freshet.errors import StateError
from freshet.hudi.checkpoint import BOOTSTRAP_KEY
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.bootstrap import ReadBackup
from freshet.plan.compile import RunRequest, compile_bootstrap, compile_override, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.row_stages import AdaptEvents, MergeEvents
from freshet.plan.stages import Commit, Plan
from freshet.project.model.backup import BackupSpec
from freshet.project.model.pipeline import IndexSpec, PipelineSpec, TableRef
from freshet.sources.files.position import FilesPosition
from freshet.sources.files.reads import ReadFiles
from tests.kit.events import a_changelog, an_event_spec
from tests.kit.files import a_files_spec
from tests.kit.memory import AVRO_TYPES, a_commit, a_table_state, a_target

STANDS: dict[str, Any] = {"partition_by": (), "ordering_field": "_event_order"}
TYPES = {**AVRO_TYPES, "_event_deleted": ["null", "boolean"], "_event_order": ["null", "long"]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with files of a log and with a backup."""
    for name in ("log/1.json.gz", "log/2.json.gz", "backup/a.parquet", "backup/deep/b.parquet", "backup/_SUCCESS"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path


def a_spec(root: Path, position: str | None = "0/10", kind: Any = "files", **changes: Any) -> PipelineSpec:
    log = a_changelog(source={"reference": Given("text")}, is_typed=False)
    place = read_place(position) if position else None
    files = {"format": "parquet"} if kind == "files" else {}
    backup = BackupSpec(kind=kind, path=str(root / "backup"), place=place, **files)  # type: ignore[arg-type]
    spec = an_event_spec(a_files_spec(str(root / "log"), quiet_seconds=0), log, **changes)
    return replace(spec, source=replace(spec.source, bootstrap=backup))


def planned(spec: PipelineSpec, *tables: TableState, **request: Any) -> Plan:
    return compile_plan(spec, MemoryState({one.ref.path: one for one in tables}), RunRequest(**request))


def commit_of(plan: Plan) -> Commit:
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    return commit


def test_the_first_plan_loads_the_backup_by_bulk_insert_and_reads_nothing_of_the_log(root: Path) -> None:
    plan = planned(a_spec(root))
    read = plan.stages[0]
    assert isinstance(read, ReadBackup)
    assert isinstance(read.files, ReadFiles)
    assert [file.path for file in read.files.files] == ["a.parquet", "deep/b.parquet"]
    assert read.reference_key == f"{16:020d}.{0:020d}"
    (adapt,) = (one for one in plan.stages if isinstance(one, AdaptEvents))
    assert adapt.changelog.is_typed
    (merge,) = (one for one in plan.stages if isinstance(one, MergeEvents))
    assert not merge.target_exists
    commit = commit_of(plan)
    assert (commit.operation, commit.options["hoodie.bulkinsert.sort.mode"]) == ("bulk_insert", "GLOBAL_SORT")
    assert json.loads(commit.metadata[BOOTSTRAP_KEY]) == {"version": 1, "kind": "files", "position": "0/10"}
    assert plan.first_run
    assert plan.window.waiting_commits == 2, "a run that drains goes on with the log"
    assert plan.checkpoint_after is not None
    position = plan.checkpoint_after.main
    assert isinstance(position, FilesPosition)
    assert (position.mark, position.of) == (0, str(root / "log"))
    assert "2 files of the files of parquet below" in plan_text(plan)
    assert plan_json(plan)["stages"][0]["stage"] == "read_backup"
    assert json.dumps(plan_json(plan))


def test_then_the_log_is_read_from_its_beginning_and_each_commit_says_of_the_backup(root: Path) -> None:
    spec = a_spec(root)
    target = a_target(schema=TYPES, extra=dict(commit_of(planned(spec)).metadata), **STANDS)
    plan = planned(spec, target)
    read = plan.stages[0]
    assert isinstance(read, ReadFiles)
    assert [file.path for file in read.files] == ["1.json.gz", "2.json.gz"]
    commit = commit_of(plan)
    assert (commit.operation, commit.metadata[BOOTSTRAP_KEY]) == ("upsert", target.latest_extra(BOOTSTRAP_KEY))
    assert not next(one for one in plan.stages if isinstance(one, AdaptEvents)).changelog.is_typed


def test_a_global_index_is_made_by_a_run_or_after_the_load(root: Path) -> None:
    spec = a_spec(root, index=IndexSpec("RECORD_INDEX", {}))
    assert commit_of(planned(spec)).operation == "upsert"
    commit = commit_of(compile_bootstrap(spec, MemoryState({})))
    assert (commit.operation, commit.options["hoodie.index.type"]) == ("bulk_insert", "GLOBAL_SIMPLE")
    assert BOOTSTRAP_KEY in commit.metadata


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"position": None}, "BACKUP_AWAITED"),
        ({"kind": "hudi"}, "BACKUP_MISSING"),
    ],
)
def test_a_load_waits_for_its_backup(root: Path, changes: dict[str, Any], code: str) -> None:
    with pytest.raises(StateError) as error:
        planned(a_spec(root, **changes))
    assert error.value.code == code


def test_a_folder_without_a_file_is_no_backup(root: Path) -> None:
    for path in (root / "backup").rglob("*.parquet"):
        path.unlink()
    with pytest.raises(StateError) as error:
        planned(a_spec(root))
    assert error.value.code == "BACKUP_MISSING"


def test_a_table_is_read_where_it_has_a_commit(root: Path) -> None:
    path = str(root / "backup")
    plan = planned(a_spec(root, kind="hudi"), a_table_state([a_commit(5)], ref=TableRef(path, path)))
    read = plan.stages[0]
    assert isinstance(read, ReadBackup)
    assert (read.files, read.table.path) == (None, path)
    assert f"the Hudi table {path}" in plan_text(plan)


def test_a_table_that_was_loaded_otherwise_is_refused_and_none_is_computed_anew_from_its_log(root: Path) -> None:
    loaded = a_target(schema=TYPES, extra=dict(commit_of(planned(a_spec(root))).metadata), **STANDS)
    cases: tuple[tuple[TableState, PipelineSpec, dict[str, Any], str], ...] = (
        (a_target(schema=TYPES, **STANDS), a_spec(root), {}, "BACKUP_CHANGED"),
        (loaded, a_spec(root, "0/20"), {}, "BACKUP_CHANGED"),
        (loaded, a_spec(root, None), {}, "BACKUP_CHANGED"),
        (loaded, a_spec(root), {"full_refresh": True}, "NOT_RECOMPUTABLE"),
    )
    for target, spec, request, code in cases:
        with pytest.raises(StateError) as error:
            planned(spec, target, **request)
        assert error.value.code == code
    # Nor where nobody names the backup any more.
    without = replace(a_spec(root), source=replace(a_spec(root).source, bootstrap=None))
    with pytest.raises(StateError) as error:
        planned(without, loaded, full_refresh=True)
    assert error.value.code == "NOT_RECOMPUTABLE"


def test_a_checkpoint_set_by_hand_is_no_load(root: Path) -> None:
    plan = compile_override(a_spec(root), MemoryState({}), "latest")
    assert BOOTSTRAP_KEY not in commit_of(plan).metadata
    with pytest.raises(StateError) as error:
        planned(a_spec(root), a_target(schema=TYPES, extra=dict(commit_of(plan).metadata), **STANDS))
    assert error.value.code == "BACKUP_CHANGED"
