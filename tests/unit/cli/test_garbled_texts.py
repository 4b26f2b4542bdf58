"""Texts of freshet's own in a commit whose Avro file is whole: garbled, cut, of another form, by the commands that look.

The kind: a byte that changed within such a text leaves the file readable, so that no reader of Avro finds it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freshet.backfill.record import ChunkRecord, encode_chunk
from freshet.hudi.checkpoint import (
    BACKFILL_KEY,
    CHECKPOINT_KEY,
    CHECKS_KEY,
    COLUMNS_KEY,
    COMPARED_KEY,
    INDEX_KEY,
    INDEX_ROWS_KEY,
    LOGIC_KEY,
    MIGRATION_KEY,
    ORIGIN_KEY,
    PIPELINE_KEY,
    encode,
)
from freshet.hudi.kept_texts import LANDED_KEY
from freshet.plan.migrated import Note, Verdict
from tests.kit.memory import AVRO_TYPES, a_checkpoint, an_avro_schema, at
from tests.kit.project import ACCEPTS, DDL, PIPELINE, a_project
from tests.kit.timeline import a_table, a_target, commit
from tests.unit.cli.conftest import Freshet
from tests.unit.cli.test_garbled_project import _codes, _codes_in, _said

_CHECK = {"kind": "where", "severity": "drop", "status": "dropped", "rows": 2, "seen": "x"}
_CHECKS = {"quarantined": 2, "checks": {"a": _CHECK}}
_CHUNK = ChunkRecord(
    backfill="2026-01-01T00:00:00/2026-01-03T00:00:00/day",
    start="2026-01-01T00:00:00",
    end="2026-01-02T00:00:00",
    chunks=2,
    state="done",
    base=at(5),
    write="upsert",
)
#: What a commit of a target may hold, each as it is right.
TEXTS = {
    "schema": an_avro_schema(AVRO_TYPES),
    CHECKS_KEY: json.dumps(_CHECKS),
    INDEX_KEY: json.dumps({"type": "BUCKET", "parameters": {"hoodie.bucket.index.num.buckets": "2"}}),
    INDEX_ROWS_KEY: "7",
    COLUMNS_KEY: json.dumps({"amount": "decimal(10,2)", "n": "smallint"}),
    LANDED_KEY: json.dumps({"digest": "x", "files": []}),
    LOGIC_KEY: json.dumps({"version": 1}),
    **encode_chunk(_CHUNK),
    MIGRATION_KEY: Note(before="/x", commit=at(1), copied=True).encode(),
    COMPARED_KEY: Verdict("the same", False).encode(),
    CHECKPOINT_KEY: encode(a_checkpoint(10))[CHECKPOINT_KEY],
}
_COMMANDS = (
    ("plan",),
    ("status",),
    ("explain",),
    ("history", "payments"),
    ("checks", "payments"),
    ("run", "payments", "--dry-run"),
    ("migrate", "payments", "--dry-run"),
    ("checkpoint", "show", "payments"),
    ("backfill", "payments", "--start", "2026-01-01", "--end", "2026-01-03", "--dry-run"),
)


def _broken(text: str) -> list[str]:
    middle = len(text) // 2
    return [
        text[:middle],
        text[:middle] + "\x00" + text[middle + 1 :],
        text.replace('"', "'", 1),
        text.replace(":", ";", 1),
        *("[]", '"x"', "3", "null", "{}", '{"type": 3, "parameters": [], "checks": [1], "fields": [{}]}', "[" * 5_000),
        text.replace("/", "-"),
        text.replace("record", "recorl").replace("int", "ant").replace("decimal", "decimel"),
    ]


@pytest.mark.parametrize("key", TEXTS)
def test_a_garbled_text_in_a_commit_is_an_error_of_ours(root: Path, key: str) -> None:
    a_project(
        root,
        files={
            "pipelines/payments.yml": PIPELINE.format(name="payments", source="events")
            + "checks: [{name: a, where: amount < 0, severity: drop}]\nschema_contract: add_columns\n"
            + ACCEPTS,
            "ddl/payments.sql": DDL.format(name="payments").replace("amount ", "n SMALLINT, amount "),
        },
    )
    a_table(root, "raw/events", 10, 20)
    target = a_target(root, (15, 10))
    own = {PIPELINE_KEY: "payments", ORIGIN_KEY: "chunk" if key == BACKFILL_KEY else "increment"}
    for number, text in enumerate(_broken(TEXTS[key])):
        # Others stand as they should.
        others = {one: TEXTS[one] for one in ("schema", INDEX_KEY, CHECKS_KEY) if one != key}
        target.done(20, commit({**own, **others, key: text}, numInserts=3))
        for command in (_COMMANDS[number % len(_COMMANDS)], _COMMANDS[(number + 4) % len(_COMMANDS)]):
            code, found, said = _said(root, command)
            assert code in (0, 3, 5), (key, text[:200], command, said)
            assert set(_codes_in(found.get("error"))) <= _codes(), said


def test_as_they_should_be_they_are_read(freshet: Freshet, root: Path) -> None:
    """And what earlier versions left out is no damage."""
    a_table(root, "raw/events", 10, 20)
    target = a_target(root, (15, 10))
    checks = {"quarantined": 2, "checks": {"a": {key: value for key, value in _CHECK.items() if key != "seen"}}}
    left_out = ("schema", INDEX_KEY, COLUMNS_KEY, MIGRATION_KEY, COMPARED_KEY, CHECKPOINT_KEY)
    texts = {key: text for key, text in TEXTS.items() if key not in left_out}
    target.done(20, commit({PIPELINE_KEY: "payments", **texts, CHECKS_KEY: json.dumps(checks)}, numInserts=3))
    for words in (("plan",), ("status",), ("history", "payments"), ("checks", "payments")):
        found = freshet(*words)
        assert found.exit_code == 0, found.output
