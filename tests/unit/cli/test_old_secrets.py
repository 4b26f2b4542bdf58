"""What a commit keeps of a path that holds a secret tells it to nobody, and an older secret is not shown by a newer one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from freshet.backfill.record import chunk_commits
from freshet.errors import StateError
from freshet.hudi.checkpoint import COMPARED_KEY, MAIN, MIGRATION_KEY, Checkpoint, decode, encode
from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.lease.local import hold_lease
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.index_record import index_in_words
from freshet.plan.migrated import Note, Verdict, a_note, note_of, shown_before, verdict_of
from freshet.plan.stages import Commit
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import TableRef
from freshet.quality.outcome import Outcome, metadata_of
from freshet.run.records import error_of
from freshet.secrets import REDACTOR, Redactor
from freshet.sources.hudi.position import HudiPosition
from tests.kit.memory import a_commit, a_table_state, at
from tests.kit.project import BASE, DDL, PIPELINE, a_project
from tests.kit.timeline import OF_A_PIPELINE, OF_A_QUARANTINE, HandMade, a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed

OLD, NEW = "violet.kumquat.77", "n3w-s3cr3t-t0ken"
_COMMANDS = (
    ("plan",),
    ("status",),
    ("status", "--metrics"),
    ("run", "payments"),
    ("run", "payments", "--dry-run"),
    ("run", "payments", "--full-refresh", "--dry-run"),
    ("checkpoint", "show", "payments"),
    ("history", "payments"),
    ("migrate", "payments", "--dry-run"),
)


@pytest.fixture
def secretive(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOK", NEW)
    a_project(root, files={"pipelines/payments.yml": PIPELINE.format(name="payments", source="{{ env.TOK }}/events")})
    a_table(root, f"raw/{NEW}/events", 10, 20)
    return root


def _said(freshet: Freshet) -> str:
    found = [freshet(*words, "--output", output) for words in _COMMANDS for output in ("text", "json")]
    return "".join(result.stdout + result.stderr for result in found)


def _kept(root: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in (root / "data").rglob(".freshet/**/*") if path.is_file())


def test_an_older_secret_is_neither_printed_nor_recorded(freshet: Freshet, secretive: Path) -> None:
    """Of a checkpoint of an earlier version, which holds the whole path: by each command, and in the records."""
    a_target(secretive, (15, 10), source=f"raw/{OLD}/events")
    said = _said(freshet)
    assert "CHECKPOINT_OF_ANOTHER_TABLE" in said
    assert [text for text in (OLD, NEW, OLD[:8], OLD[-8:]) if text in said] == []
    assert "data/raw/.../events" in said
    kept = _kept(secretive)
    assert "CHECKPOINT_OF_ANOTHER_TABLE" in kept
    assert OLD[:8] not in kept


def test_a_broken_checkpoint_shows_no_path(freshet: Freshet, secretive: Path) -> None:
    """Broken at its end, in its middle, and where a path begins."""
    table = a_target(secretive)
    whole = json.dumps({"version": 1, "positions": {"SRC": {"table": f"/lake/{OLD}/events", "instant": 3}}})
    broken = (whole, whole[:-30], whole.replace("/lake", '"/la"ke'), whole.replace("version", "vers\\"))
    for number, text in enumerate(broken, 30):
        table.done(number, commit({"streamer.freshet.checkpoint": text}))
        result = freshet("plan")
        assert "CHECKPOINT_UNREADABLE" in result.stderr
        assert OLD[:8] not in result.stderr


def test_what_a_loaded_pipeline_commits_holds_no_secret(secretive: Path) -> None:
    """Its source, an input, a predecessor of its target, the name of a file of its logic; and none where nothing is secret."""
    ddl = "USING hudi LOCATION 'data/{{ var.tok }}/payments__m2'"
    variables = 'vars: {tok: "{{ env.TOK }}", raw_root: "data/{{ env.TOK }}"'
    a_project(
        secretive,
        files={
            "configs/base.yml": BASE.replace("vars: {raw_root: data/raw", variables),
            "ddl/payments.sql": DDL.format(name="payments").replace("USING hudi", ddl),
            f"transformers/{NEW}.sql": "SELECT e.* FROM <SRC> e LEFT JOIN tips t ON e.id = t.id\n",
            "pipelines/payments.yml": PIPELINE.format(name="payments", source="events")
            .replace("transformers/payments", "transformers/{{ env.TOK }}")
            .replace("hoodie:\n", "inputs: {tips: {table: raw.tips, read: incremental}}\nhoodie:\n"),
        },
    )
    spec = load_project(secretive).pipelines[0]
    for name in ("events", "tips"):
        a_table(secretive, f"{NEW}/{name}", 10)
    plan = compile_plan(spec, TimelineState(), RunRequest())
    commits = [stage.metadata for stage in plan.stages if isinstance(stage, Commit)]
    assert [NEW in json.dumps(dict(metadata)) for metadata in commits] == [False]
    assert len(spec.hidden) == 4
    assert NEW not in a_note(spec, str(secretive / "data" / NEW / "payments"), "1", copied=True).encode()


def test_the_lease_and_a_record_of_a_check_hold_no_secret(tmp_path: Path) -> None:
    """What a run does, in the words of an event; what a check saw, and an error's message: redacted before they are cut."""
    REDACTOR.register("TOK", NEW)
    target = TableRef("derived.payments", str(tmp_path / "payments"))
    with hold_lease(target, "run", 0, print) as lease:
        lease.note({"doing": f"reading 3 partitions of /lake/{NEW}/tips"})
        assert NEW[:8] not in (tmp_path / ".freshet/payments.lease").read_text()
    long = "x" * 195 + NEW
    seen = Outcome("volume", "sql", "warn", "warned", 0, "", long, (), "")
    kept = metadata_of([seen], 1, 0)["streamer.freshet.checks"] + str(error_of(ValueError("y" * 290 + NEW)))
    assert NEW[:4] not in kept


def test_what_an_earlier_version_wrote_is_gone_on_from(freshet: Freshet, secretive: Path) -> None:
    a_target(secretive, (15, 10), source=f"raw/{NEW}/events")
    assert parsed(freshet("plan", "--output", "json"))["plans"][0]["window"]["kind"] == "increment"


def test_a_short_secret_and_a_moved_folder(freshet: Freshet, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipeline is told where the paths differ, as far as no secret stands there."""
    a_project(root, files={"pipelines/payments.yml": PIPELINE.format(name="payments", source="{{ env.TOK }}/events")})
    monkeypatch.setenv("TOK", "n3w")
    a_table(root, "raw/n3w/events", 10)
    a_target(root, (15, 10), source="older/0ld/events")
    said = freshet("plan", "--output", "json").stdout
    assert "0ld" not in said
    assert "older" not in said
    assert "/data/.../events" in said


def test_a_pipeline_without_a_secret_is_told_the_whole_path(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10), source="raw/older")
    assert "data/raw/older" in freshet("plan", "--output", "json").stdout


def test_a_folder_that_moved_with_its_secret(freshet: Freshet, secretive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.move(secretive / "data/raw" / NEW, secretive / "data/raw" / OLD)
    monkeypatch.setenv("TOK", OLD)
    a_target(secretive, (15, 10), source=f"raw/{NEW}/events")
    REDACTOR.__init__()  # type: ignore[misc]
    said = _said(freshet)
    assert "CHECKPOINT_OF_ANOTHER_TABLE" in said
    assert NEW[:8] not in said + _kept(secretive)


def test_what_stands_in_a_path_is_hidden_whatever_stands_beside_it() -> None:
    redactor = Redactor()
    redactor.register("N", "126")
    assert redactor.hidden("/raw/20260801/events126/") == "/raw/20260801/events${env.N}/"


def test_an_old_table_under_a_secret_is_found_again_or_left(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A migrated table that moved with its secret names no folder that could be deleted by mistake."""
    monkeypatch.setenv("TOK", NEW)
    place = "USING hudi LOCATION '{{ var.derived_root }}/payments__m2'"
    a_project(
        root,
        files={
            "configs/base.yml": BASE.replace("derived_root: data/derived", 'derived_root: "data/{{ env.TOK }}"'),
            "ddl/payments.sql": DDL.format(name="payments").replace("USING hudi", place),
        },
    )
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10), name=f"{NEW}/payments")
    note = a_note(load_project(root).pipelines[0], str(root / "data" / NEW / "payments"), at(15), copied=False).encode()
    successor = HandMade(root / "data" / NEW / "payments__m2", OF_A_PIPELINE)
    successor.done(60, commit({MIGRATION_KEY: note}))
    successor.done(62, commit({COMPARED_KEY: Verdict("the same", False).encode()}))
    shutil.copytree(root / "data" / NEW, root / "data" / OLD)
    monkeypatch.setenv("TOK", OLD)
    assert parsed(freshet("migrate", "payments", "--drop-old", "--output", "json"))["error"]["code"] == "NOT_MIGRATED"
    assert (root / "data" / OLD / "payments").exists()
    monkeypatch.setenv("TOK", NEW)
    assert "deleted" in parsed(freshet("migrate", "payments", "--drop-old", "--output", "json"))
    assert not (root / "data" / NEW / "payments").exists()


@pytest.mark.parametrize(("more", "code"), [((), "OLD_TABLE_WRITTEN"), (("--yes",), "")])
def test_an_old_table_under_an_older_secret_is_deleted_and_not_named(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
    code: str,
) -> None:
    """The note of an earlier version holds the whole path, with a secret that has been changed since."""
    monkeypatch.setenv("TOK", NEW)
    place = "USING hudi LOCATION '{{ var.derived_root }}/payments__m2'"
    a_project(
        root,
        files={
            "configs/base.yml": BASE.replace("derived_root: data/derived", 'derived_root: "data/{{ env.TOK }}"'),
            "ddl/payments.sql": DDL.format(name="payments").replace("USING hudi", place),
        },
    )
    a_table(root, "raw/events", 10)
    before = root / "data" / OLD / "payments"
    a_target(root, (15, 10), (70, 10), name=f"{OLD}/payments")
    HandMade(before.with_name("payments_quarantine"), OF_A_QUARANTINE).done(20, commit())
    successor = HandMade(root / "data" / NEW / "payments__m2", OF_A_PIPELINE)
    successor.done(60, commit({MIGRATION_KEY: Note(before=str(before), commit=at(15), copied=False).encode()}))
    successor.done(62, commit({COMPARED_KEY: Verdict("the same", False).encode()}))
    said = [freshet("migrate", "payments", "--drop-old", *more, "--output", output) for output in ("json", "text")]
    assert [text for text in (OLD, OLD[:8], OLD[-8:]) if any(text in one.output for one in said)] == []
    found = parsed(said[0])
    assert found.get("error", {}).get("code", "") == code, found
    if not code:
        assert [Path(one).name for one in found["deleted"]] == ["payments", "payments_quarantine"]
        assert all("/data/.../" in one for one in found["deleted"])
        assert not before.exists()


def test_a_record_that_names_a_path_by_an_older_secret_is_told_without_it(freshet: Freshet, secretive: Path) -> None:
    folder = secretive / "data/derived/.freshet/payments.runs/payments"
    folder.mkdir(parents=True)
    words = f"no table at {secretive}/data/raw/{OLD}/events, and none at {secretive}/data/raw/{NEW}/events or /x/{NEW}"
    record = {"version": 1, "begun": at(30), "ended": at(31), "what": "run", "outcome": "failed", "reason": words}
    record |= {"error": {"code": "SOURCE_MISSING", "message": words}}
    (folder / f"{at(30)}-0123abcd.failed.json").write_text(json.dumps(record))
    said = "".join(freshet("history", "payments", "--output", output).output for output in ("json", "text"))
    assert "SOURCE_MISSING" in said
    assert [text for text in (OLD, OLD[:8], OLD[-8:], NEW[:8]) if text in said] == []
    assert "/data/raw/.../events" in said


#: What a version that knew less kept, by the place that it was kept in; of each only the secret must go.
_SAID = (
    "s3a://AK:{}@lake/raw/events is gone",
    "https://acc.blob.core.windows.net/raw?sv=1&sig={}",
    "fs.s3a.secret.key={} was refused",
    "jdbc:hive2://u:{}@h/x refused",
)


@pytest.mark.parametrize("said", _SAID)
def test_what_records_and_commits_kept_is_told_without_credentials(freshet: Freshet, root: Path, said: str) -> None:
    """Of a project that names no secret any more: a record's reason and error, a check, a chunk, a run's id, a lease."""
    words = said.format(OLD)
    a_table(root, "raw/events", 10)
    found = {"rows": 1, "quarantined": 0, "checks": {"c": {"kind": "sql", "severity": "warn", "status": "warned", "rows": 0}}}
    found["checks"]["c"]["seen"] = words  # type: ignore[index]
    extra = {"streamer.freshet.pipeline": "payments", "streamer.freshet.checks": json.dumps(found)}
    target = a_target(root, (15, 10))
    target.done(20, commit({**extra, "streamer.freshet.run_id": words}, numInserts=3))
    target.done(
        25,
        commit(
            {
                **extra,
                "streamer.freshet.backfill": json.dumps({"state": "failed", **dict.fromkeys(("error", "start", "end"), words)}),
            }
        ),
    )
    folder = root / "data/derived/.freshet/payments.runs/payments"
    folder.mkdir(parents=True)
    record = {"version": 1, "begun": at(30), "ended": at(31), "what": "run", "outcome": "failed", "reason": words}
    record |= {"error": {"code": "WRITE_FAILED", "message": words}, "failed": {"2026-01-05": words}}
    (folder / f"{at(30)}-0123abcd.failed.json").write_text(json.dumps(record))
    (folder.parents[1] / "payments.lease").write_text(
        json.dumps({"run_id": "r", "pipeline": "payments", "doing": words, "begun": 1.0})
    )
    result = _said(freshet) + freshet("checks", "payments", "--output", "json").stdout
    assert "WRITE_FAILED" in result
    assert '"seen"' in result
    assert [text for text in (OLD, OLD[:8], OLD[-8:]) if text in result] == []
    # What the killed run of the lease left is recorded anew.
    kept = [path.read_text() for path in folder.iterdir() if "0123abcd" not in path.name]
    assert any("was killed" in text for text in kept)
    assert [text for text in kept if OLD[:8] in text] == []


@pytest.mark.parametrize("table", ["s3a://AK:{}@lake/raw/events", "s3a://lake/raw/events?token={}", "s3a://{}@lake/events#{}"])
def test_a_kept_place_is_told_without_its_user_and_query(freshet: Freshet, root: Path, table: str) -> None:
    """A checkpoint in clear, of a project that names no secret any more: printed, recorded, and carried on by a commit."""
    a_table(root, "raw/events", 10)
    place = table.format(OLD, OLD)
    known = HudiPosition(instant=at(10), table=place)
    a_target(root).done(15, commit(encode(Checkpoint({MAIN: known, "tips": known}, known))))
    said = _said(freshet)
    assert "CHECKPOINT_OF_ANOTHER_TABLE" in said
    assert [text for text in (OLD, OLD[:8], OLD[-8:]) if text in said + _kept(root)] == []
    spec = load_project(root).pipelines[0]
    (stage,) = compile_override(spec, TimelineState(), at(10)).stages
    assert isinstance(stage, Commit)
    assert OLD not in json.dumps(dict(stage.metadata))


def test_other_kept_texts_are_told_without_credentials(root: Path) -> None:
    """A verdict, a note, an index, HoodieStreamer's checkpoint, a chunk, and what cannot be read."""
    path = f"s3a://AK:{OLD}@lake/payments"
    table = HandMade(root / "data/derived/payments__m2", OF_A_PIPELINE)
    table.done(60, commit({MIGRATION_KEY: Note(before=path, commit=at(1), copied=True).encode()}))
    table.done(62, commit({COMPARED_KEY: Verdict(f"differs: {path}", True).encode()}))
    state, spec = TimelineState().table(table.ref), load_project(root).pipelines[0]
    note, verdict = note_of(state), verdict_of(state)
    assert note is not None
    assert verdict is not None
    assert note.is_of(path)
    recorded = json.dumps({"type": "HBASE", "parameters": {"hoodie.index.hbase.table": path}})
    said = [shown_before(spec, note), verdict.words, index_in_words(recorded, spec)]
    for read in (
        lambda: decode({"streamer.checkpoint.key.v2": f"topic,token={OLD}"}),
        lambda: decode({"streamer.freshet.checkpoint": f'{{"secret": "{OLD}"}}'}),
        lambda: chunk_commits(state_of({"streamer.freshet.backfill": f"password={OLD}"}), "earnings"),
    ):
        with pytest.raises(StateError) as caught:
            read()
        said.append(str(caught.value) + json.dumps(caught.value.details))
    assert [text for text in said if OLD[:8] in text] == []


def state_of(extra: dict[str, str]) -> TableState:
    return a_table_state([a_commit(20, extra={"streamer.freshet.pipeline": "earnings", **extra})])
