"""What test_garbled_project does not draw: a project's other files, other commands, other ways in which a file is wrong.

Files: layers of configs, Python steps and what they import, cases and their rows, suites, seeds; of tables what is pending,
rolled back, archived or replaced, records of runs and audits, a lease, notes of a backfill and a migration. Ways: the
content of another file, twice its own, a page of zeros, a folder in its place, a name that is garbled, and two files at once.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from freshet.backfill.record import ChunkRecord, encode_chunk
from freshet.hudi import actions, properties
from freshet.hudi.checkpoint import COMPARED_KEY, MIGRATION_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY, encode
from freshet.plan.migrated import Note, Verdict
from tests.kit.memory import a_checkpoint, at
from tests.kit.project import ACCEPTS, BASE, DDL, PIPELINE, a_project
from tests.kit.timeline import OF_A_PIPELINE, HandMade, a_table, a_target, clean, clean_plan, commit
from tests.kit.whole import WHOLE
from tests.unit.cli.test_garbled_project import _JUNK, SECRET, _codes, _codes_in, _place, _said

_EXAMPLES = int(os.environ.get("FRESHET_EXAMPLES", "10" if WHOLE else "1"))
# Of what these tell, a record's own words are data; of all others each code is freshet's.
_RECORDS = (("history", "payments"), ("history", "payments", "--failed"), ("checks", "payments"), ("status",))
_WORDS = (
    *_RECORDS,
    ("validate",),
    ("validate", "--env", "prod"),
    ("explain",),
    ("plan",),
    ("plan", "--env", "prod"),
    ("compile",),
    ("migrate", "payments", "--dry-run"),
    ("checkpoint", "show", "payments"),
    ("run", "payments", "--full-refresh", "--dry-run"),
    ("backfill", "payments", "--start", "2026-01-01", "--end", "2026-01-03", "--dry-run"),
)
_SUITE = {
    "name": "s",
    "expectations": [{"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "id"}, "meta": {}}],
    "meta": {"great_expectations_version": "1.3.0"},
}
_CASES = """\
tables: {SRC: {schema: "id string, amount decimal(10,2), updated_at timestamp", key: id, ordering: updated_at}}
cases:
  one:
    given: {SRC: payments_rows.csv, tips: []}
    expect: {rows: [{id: a, amount: 1}]}
"""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "WAITS", ())
    monkeypatch.setattr(properties, "WAITS", ())
    monkeypatch.setenv("PW", SECRET)


def _project(folder: Path) -> Path:
    step = "from transformers.lib.fares import fare\n\n\ndef transform(inputs, context):\n    return fare(inputs['SRC'])\n"
    pipeline = PIPELINE.format(name="payments", source="events").replace(
        "transform: transformers/payments.sql", "transform: [transformers/payments.sql, transformers/step.py]"
    )
    root = a_project(
        folder / "project",
        files={
            "configs/base.yml": BASE.replace("vars: {", 'vars: {pw: "{{ env.PW }}", '),
            "configs/prod.yml": "vars: {raw_root: data/raw}\nspark: {spark.master: yarn}\nlease: {wait_seconds: 5}\n",
            "pipelines/payments.yml": pipeline
            + "  hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL\n"
            + "checks: [{name: s, suite: checks/suite.json}]\nexactness: row_by_row\n"
            + "inputs: {tips: {table: raw.tips, read: snapshot}}\nbackfill: {event_time: updated_at}\n"
            + ACCEPTS,
            "pipelines/down.yml": PIPELINE.format(name="down", source="x").replace(
                '"{{ var.raw_root }}/x"', '"{{ var.derived_root }}/payments"'
            )
            + ACCEPTS,
            "ddl/down.sql": DDL.format(name="down"),
            "transformers/down.sql": "SELECT id, amount, updated_at FROM <SRC>\n",
            "transformers/payments.sql": "CACHE TABLE t AS SELECT id, max(amount) AS tip FROM tips GROUP BY id;\n"
            "SELECT s.id, {% for n in ['amount'] %}s.{{ n }}, {% endfor %}s.updated_at\n"
            "FROM <SRC> s LEFT JOIN t ON s.id = t.id\n",
            "transformers/step.py": step,
            "transformers/lib/fares.py": "def fare(rows):\n    return rows.distinct()\n",
            "checks/suite.json": json.dumps(_SUITE),
            "pipelines/tests/payments.yml": _CASES,
            "pipelines/tests/payments_rows.csv": "id,amount,updated_at\na,1.00,2026-01-05 11:00:00\n",
            "seeds/raw.cities.yml": "key: id\n",
            "seeds/raw.cities.csv": "id,name\n1,Amsterdam\n",
        },
    )
    events = a_table(root, "raw/events", 10, 20)
    events.archive((4, "commit", commit()), (5, "replacecommit", commit()))
    events.done(25, commit(numDeletes=3, partition="2026-08-02"), "replacecommit")
    events.done(30, clean(at(9)), "clean")
    events.put(f"{at(33)}.clean.requested", clean_plan("x.parquet"))
    events.put(f"{at(33)}.clean.inflight")
    for name in (
        f"{at(35)}.commit.requested",
        f"{at(35)}.inflight",
        f"{at(36)}.rollback.requested",
        f"{at(36)}.rollback.inflight",
    ):
        events.put(name)
    a_table(root, "raw/tips", 10, 20)
    target = a_target(root, (15, 10))
    seen = {"rows": 1, "quarantined": 0, "checks": {"s": {"kind": "suite", "severity": "warn", "status": "warned", "rows": 2}}}
    chunk = ChunkRecord(
        backfill="2026-01-01T00:00:00/2026-01-03T00:00:00/day",
        start="2026-01-01T00:00:00",
        end="2026-01-02T00:00:00",
        chunks=2,
        state="done",
        base=at(15),
        write="upsert",
    )
    own = {PIPELINE_KEY: "payments", RUN_ID_KEY: "r"}
    target.done(16, commit({**own, ORIGIN_KEY: "backfill", **encode_chunk(chunk)}))
    vector = encode(a_checkpoint(10, str(root / "data/raw/events")))
    target.done(
        18, commit({**own, **vector, ORIGIN_KEY: "increment", "streamer.freshet.checks": json.dumps(seen)}, numInserts=3)
    )
    (target.timeline.parent / "hoodie.properties.backup").write_text(OF_A_PIPELINE)
    successor = HandMade(root / "data/derived/payments__m2", OF_A_PIPELINE)
    before = Note(before=str(root / "data/derived/payments"), commit=at(15), copied=True)
    successor.done(17, commit({MIGRATION_KEY: before.encode(), ORIGIN_KEY: "whole_table"}))
    successor.done(19, commit({COMPARED_KEY: Verdict("the same", False).encode(), ORIGIN_KEY: "index"}))
    records = root / "data/derived/.freshet/payments.runs/payments"
    records.mkdir(parents=True)
    told = {"version": 1, "begun": at(30), "ended": at(31), "what": "run", "outcome": "failed", "rows": {"inserts": 1}}
    told["error"] = {"code": "WRITE_FAILED", "message": "no more"}
    for number, kind in enumerate(("failed", "idle", "committed", "differs")):
        record = {**told, "begun": at(40 + number), "outcome": kind, "what": "audit" if kind == "differs" else "run"}
        (records / f"{at(40 + number)}-0123abcd.{kind}.json").write_text(json.dumps(record))
    lease = {"run_id": "r", "pipeline": "payments", "doing": "reading", "begun": 1.0}
    (records.parents[1] / "payments.lease").write_text(json.dumps(lease))
    return root


def _tree(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _damage(data: st.DataObject, path: Path, tree: dict[Path, bytes]) -> None:
    content = bytearray(tree[path])
    how = data.draw(st.sampled_from(["cut", "garble", "swapped", "twice", "zeros", "folder", "renamed"]))
    match how:
        case "cut":
            del content[_place(data, content) :]
        case "garble":
            for _ in range(data.draw(st.integers(1, 3))):
                place = _place(data, content)
                content[place : place + data.draw(st.integers(0, 4))] = data.draw(_JUNK)
        case "swapped":
            content = bytearray(tree[data.draw(st.sampled_from(sorted(tree)))])
        case "twice":
            content *= 2
        case "zeros":
            # A page that never came to the disk.
            place = _place(data, content)
            content[place : place + 512] = bytes(min(512, len(content) - place))
        case "folder":
            path.unlink()
            path.mkdir()
            return
        case _:
            place = data.draw(st.integers(0, len(path.name)))
            name = path.name[:place] + data.draw(st.sampled_from(["", "0", "_", ".", "²", " ", "-"])) + path.name[place + 1 :]
            if name.strip(". ") and not path.with_name(name).exists():
                path.rename(path.with_name(name))
            return
    path.write_bytes(bytes(content))


@pytest.mark.timeout(3600)
@settings(
    max_examples=60 * _EXAMPLES,
    deadline=None,
    derandomize=_EXAMPLES == 1,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_whatever_file_is_wrong_in_whatever_way_it_is_said_and_nothing_is_written(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = _project(Path(folder))
        before = _tree(root)
        words = data.draw(st.sampled_from(_WORDS))
        for path in data.draw(st.lists(st.sampled_from(sorted(before)), min_size=1, max_size=2, unique=True)):
            _damage(data, path, before)
        damaged = _tree(root)
        code, found, said = _said(root, words)
        # The file of the pipeline that is asked for may be the one that has another name.
        assert code in (0, 3, 5) or (code == 2 and "UNKNOWN_PIPELINE" in said), said
        assert isinstance(found, dict)
        assert set(_codes_in(found.get("error") if words in _RECORDS else found)) <= _codes(), said
        assert _tree(root) == damaged


def test_as_it_stands_each_of_the_commands_answers(tmp_path: Path) -> None:
    """Else what is drawn would be damaged for another reason."""
    root = _project(tmp_path)
    answers = {words: _said(root, words) for words in _WORDS}
    assert {words: said for words, (code, _, said) in answers.items() if code} == {}
