"""What a commit keeps of paths and names that hold a secret: nothing that tells it, and enough to know them again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.errors import StateError
from freshet.hudi.checkpoint import CHECKPOINT_KEY, MAIN, Checkpoint, decode, encode
from freshet.hudi.table import MemoryState, TableState
from freshet.plan.compile import RunRequest, compile_override, compile_plan
from freshet.plan.describe import plan_json, plan_text
from freshet.plan.index_record import index_in_words, index_record, is_index
from freshet.plan.migrated import MIGRATION_KEY, Note, a_note, note_of, shown_before
from freshet.plan.positions import checkpoint_of, kept
from freshet.plan.stages import Commit, Plan
from freshet.project.model.hidden import beside, digest_of, is_kept, kept_path, shown_of
from freshet.project.model.pipeline import IndexSpec, InputSpec, PipelineSpec, TableRef
from freshet.sources.hudi.position import HudiPosition
from tests.kit.memory import a_checkpoint, a_commit, a_spec, a_table_state, a_target, at

OLD, NOW = "violet.kumquat.77", "n3w-s3cr3t"
SHOWN, TIPS = "/lake/raw/${env.TOK}/trips", "/lake/${env.TOK}/tips"


def secretive(secret: str = NOW) -> PipelineSpec:
    source, tips = (TableRef(path, path) for path in (SHOWN.replace("${env.TOK}", secret), TIPS.replace("${env.TOK}", secret)))
    return a_spec(
        source={"table": source},
        inputs=(InputSpec(name="tips", table=tips, read="incremental", line=7),),
        hidden={source.path: SHOWN, tips.path: TIPS},
    )


def world(spec: PipelineSpec, target: TableState | None, *commits: int) -> MemoryState:
    tables = [a_table_state([a_commit(n) for n in commits], ref=ref) for ref in (spec.source.table, spec.inputs[0].table)]
    return MemoryState({t.ref.path: t for t in (*tables, target) if t is not None})


def committed(plan: Plan) -> dict[str, str]:
    commit = plan.stages[-1]
    assert isinstance(commit, Commit)
    return dict(commit.metadata)


def in_version_1(secret: str) -> dict[str, str]:
    """Return what freshet wrote before paths were hidden, to the letter."""

    def position(path: str) -> str:
        path = path.replace("${env.TOK}", secret)
        return (
            f'{{"basis":"completed","instant":"{at(10)}","kind":"hudi","known":{{"commits":["{at(9)}_{at(10)}"],'
            f'"since":"{at(10)}"}},"table":"{path}"}}'
        )

    return {CHECKPOINT_KEY: f'{{"positions":{{"SRC":{position(SHOWN)},"tips":{position(TIPS)}}},"version":1}}'}


def target_with(extra: dict[str, str]) -> TableState:
    return a_target(extra=extra)


def test_a_commit_holds_no_secret_and_the_next_run_goes_on() -> None:
    """Of the main source, of an input, of how far the source was read before; what is kept again is not hidden twice."""
    spec = secretive()
    first = committed(compile_plan(spec, world(spec, None, 10, 20), RunRequest()))
    assert NOW not in json.dumps(first)
    assert json.loads(first[CHECKPOINT_KEY])["version"] == 2
    target = target_with(first)
    assert compile_plan(spec, world(spec, target, 10, 20), RunRequest()).window.kind == "idle"
    plan = compile_plan(spec, world(spec, target, 10, 20, 30), RunRequest())
    assert (plan.window.kind, plan.window.requested) == ("increment", (at(29),))
    back = committed(compile_override(spec, world(spec, target, 10, 20), at(10)))
    assert NOW not in json.dumps(back)
    assert json.loads(back[CHECKPOINT_KEY])["seen"]["digest"]
    found = checkpoint_of(spec, target_with(back))
    assert found is not None
    assert found.seen is not None
    assert found.seen.table == spec.source.table.path
    assert encode(kept(spec, found))[CHECKPOINT_KEY] == back[CHECKPOINT_KEY]


def test_a_checkpoint_of_version_1_is_gone_on_from_and_written_without_the_secret() -> None:
    spec = secretive()
    plan = compile_plan(spec, world(spec, target_with(in_version_1(NOW)), 10, 20), RunRequest())
    assert plan.window.requested == (at(19),)
    written = committed(plan)
    assert NOW not in json.dumps(written)
    assert json.loads(written[CHECKPOINT_KEY])["version"] == 2


def test_without_a_secret_the_text_is_the_one_of_version_1() -> None:
    spec = replace(secretive(), hidden={})
    plan = compile_plan(spec, world(spec, None, 10), RunRequest())
    assert committed(plan)[CHECKPOINT_KEY] == in_version_1(NOW)[CHECKPOINT_KEY]
    assert decode(in_version_1(NOW)) == plan.checkpoint_after


@pytest.mark.parametrize("version", [1, 2])
def test_another_secret_is_another_table_and_shows_nothing_of_the_older_one(version: int) -> None:
    """Neither the refusal nor a plan, which shows the input's; and what is kept of them on and on does not hold it."""
    old = secretive(OLD)
    before = in_version_1(OLD) if version == 1 else committed(compile_plan(old, world(old, None, 10), RunRequest()))
    spec = secretive()
    with pytest.raises(StateError) as raised:
        compile_plan(spec, world(spec, target_with(before), 10, 20), RunRequest())
    assert raised.value.code == "CHECKPOINT_OF_ANOTHER_TABLE"
    assert OLD not in str(raised.value) + json.dumps(raised.value.as_json())
    # The input alone was another table; it was renamed since; it is no more.
    main = json.loads(
        (in_version_1(NOW) if version == 1 else committed(compile_plan(spec, world(spec, None, 10), RunRequest())))[
            CHECKPOINT_KEY
        ]
    )
    mixed = json.loads(before[CHECKPOINT_KEY])
    mixed["positions"][MAIN] = main["positions"][MAIN]
    target = target_with({CHECKPOINT_KEY: json.dumps(mixed)})
    for inputs in (spec.inputs, (replace(spec.inputs[0], name="others"),), ()):
        plan = compile_plan(replace(spec, inputs=inputs), world(spec, target, 10, 20), RunRequest())
        assert OLD not in json.dumps([plan_json(plan), committed(plan)]) + plan_text(plan, show_options=True)


def test_a_path_that_holds_a_secret_no_more_is_known_again() -> None:
    spec = secretive()
    first = committed(compile_plan(spec, world(spec, None, 10), RunRequest()))
    plain = replace(spec, hidden={})
    plan = compile_plan(plain, world(plain, target_with(first), 10, 20), RunRequest())
    assert plan.window.requested == (at(19),)
    assert json.loads(committed(plan)[CHECKPOINT_KEY])["version"] == 1


_secrets = st.text("abcXYZ019-_.", min_size=3, max_size=40)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    _secrets,
    _secrets,
    st.sampled_from(["/lake/${env.T}/a", "s3a://${env.T}/b/c", "/a/b${env.T}c/d", "${env.T}/x", "/x/${env.T}"]),
)
def test_a_digest_tells_one_path_from_another_and_no_piece_of_an_unknown_one_is_shown(one: str, two: str, shown: str) -> None:
    path, other = shown.replace("${env.T}", f"<{one}>"), shown.replace("${env.T}", f"<{two}>")
    position = HudiPosition(instant=at(1), table=shown, digest=digest_of(path, shown))
    assert position.is_at(path)
    assert position.is_at(other) is (path == other)
    assert position.is_at(path.replace("s3a://", "s3://"))
    assert f"<{one}>" not in beside(path, shown)
    assert decode(encode(Checkpoint({MAIN: position}))) == Checkpoint({MAIN: position})


@pytest.mark.parametrize(
    ("text", "shown", "said"),
    [
        ("/lake/raw/0ld/events", "/lake/raw/${env.T}/events", "/lake/raw/.../events"),
        ("/other/raw/0ld/events", "/lake/raw/${env.T}/events", "/.../events"),
        ("/mnt/0ld/raw/events", "${env.LAKE}/raw/events", ".../raw/events"),
        ("/lake/0ld", "/lake/${env.T}/events", "/lake/..."),
        ("/lake", "/lake/${env.T}", "/lake/..."),
        ("0ld", "${env.T}", "..."),
        ("/a/0ld/a/0ld/a", "/a/${env.T}/a", "/a/.../a"),
    ],
)
def test_only_what_both_paths_begin_and_end_with_is_shown(text: str, shown: str, said: str) -> None:
    assert beside(text, shown) == said


def test_a_note_of_a_migration_holds_no_secret() -> None:
    """Of the table whose place is taken; one of an earlier version is read, and shown only as far as it is no secret."""
    before, now = "/lake/n3w/trips", "/lake/n3w/trips__m2"
    hidden = {before: "/lake/${env.TOK}/trips", now: "/lake/${env.TOK}/trips__m2"}
    spec = a_spec(target={"ref": TableRef("derived.trips", now)}, hidden=hidden)
    text = a_note(spec, before, at(1), copied=True).encode()
    assert "n3w" not in text
    note = note_of(a_table_state([a_commit(1, extra={MIGRATION_KEY: text})]))
    assert note is not None
    assert [note.is_of(path) for path in (before, now, "/lake/0ld/trips")] == [True, False, False]
    assert shown_before(spec, note) == hidden[before]
    plain = Note(before=before, commit=at(1), copied=True)
    assert json.loads(plain.encode()) == {"before": before, "commit": at(1), "copied": True, "version": 1}
    assert plain.is_of(before)
    assert shown_before(spec, Note(before="/lake/0ld/trips", commit=at(1), copied=True)) == "/lake/.../trips"
    assert shown_before(spec, Note(before="/lake/0ld/other", commit=at(1), copied=True)) == "/lake/..."
    with pytest.raises(StateError) as raised:
        note_of(a_table_state([a_commit(1, extra={MIGRATION_KEY: '{"version": 9, "before": "/lake/0ld/trips"}'})]))
    assert "0ld" not in str(raised.value) + json.dumps(raised.value.as_json())


def test_an_index_table_that_is_named_by_a_secret_is_known_again() -> None:
    key, spec = "hoodie.index.hbase.table", a_spec(index=IndexSpec("HBASE", {"hoodie.index.hbase.table": "n3w_trips"}))
    plain = index_record(spec)
    assert json.loads(plain) == {"parameters": {key: "n3w_trips"}, "type": "HBASE"}
    spec = replace(spec, hidden={"n3w_trips": "${env.TOK}_trips"})
    record = index_record(spec)
    assert "n3w" not in record
    assert is_index(record, spec)
    assert is_index(plain, spec)
    assert is_index(record, replace(spec, hidden={}))
    other = replace(spec, index=IndexSpec("HBASE", {key: "an0ther_trips"}), hidden={"an0ther_trips": "${env.TOK}_trips"})
    assert not is_index(record, other)
    assert not is_index(plain, other)
    assert "n3w" not in index_in_words(plain, other) + index_in_words(record, other)


def test_a_reader_with_a_secret_is_known_to_have_read_its_upstream() -> None:
    shown = "s3a://bucket/${env.T}/trips"
    position = HudiPosition(instant=at(1), table=shown, digest=digest_of("s3a://bucket/n3w/trips", shown))
    assert position.is_at("s3://bucket/n3w/trips")
    assert not position.is_at("s3://bucket/0ld/trips")
    assert a_checkpoint(1, "s3n://b/t").positions[MAIN].is_at("s3://b/t")


def test_what_an_index_table_keeps_of_its_table() -> None:
    """Of the kind: a path with a secret that is kept outside of the table's commits."""
    path, hidden = "/lake/s3cr3t/earnings", {"/lake/s3cr3t/earnings": "/lake/${env.TOK}/earnings"}
    text = kept_path(path, hidden)
    assert "s3cr3t" not in text
    assert (is_kept(text, path), is_kept(path, path), is_kept(text, "/lake/other/earnings")) == (True, True, False)
    assert shown_of(text, "/lake/other/earnings", {}) == "/lake/${env.TOK}/earnings"
    assert shown_of("/lake/older/earnings", path, hidden) == "/lake/.../earnings"
    assert shown_of("/lake/older/earnings", "/lake/b/earnings", {}) == "/lake/older/earnings"
    assert kept_path("/lake/a b", {}) == "/lake/a b"
