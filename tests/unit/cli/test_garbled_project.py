"""Any file of a project or of its tables, cut, garbled, emptied or gone: an error of ours, and nothing else.

``make nightly`` draws ten times as many; what it means for rows is in tests/integration/test_garbled_tables.py.
"""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freshet.cli.main import main
from freshet.hudi import actions, properties
from tests.kit.memory import at
from tests.kit.project import ACCEPTS, BASE, PIPELINE, a_project
from tests.kit.timeline import a_table, a_target, clean, commit
from tests.kit.whole import WHOLE

SECRET = "s3cr3t-0123456789-token"
_JUNK = st.one_of(
    st.binary(max_size=6),
    st.sampled_from(
        [
            b"{{",
            b"}}",
            b"{%",
            b"'",
            b'"',
            b"`",
            b"/*",
            b";",
            b"\x00",
            b"\xff",
            b"\r",
            b"&a",
            b"*a",
            b"!!",
            b": ",
            b"- ",
            b"(",
            b"=",
            b"\\",
            b"<SRC>",
            "²".encode(),
            b"\n",
            b"#",
        ]
    ),
)
_WORDS = [
    ("validate",),
    ("plan",),
    ("compile",),
    ("status",),
    ("status", "--metrics"),
    ("alerts",),
    ("checkpoint", "show", "payments"),
    ("run", "--all", "--dry-run"),
    ("backfill", "payments", "--start", "2026-01-01", "--end", "2026-01-03", "--dry-run"),
]
_EXAMPLES = int(os.environ.get("FRESHET_EXAMPLES", "10" if WHOLE else "1"))
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "WAITS", ())
    monkeypatch.setattr(properties, "WAITS", ())
    monkeypatch.setenv("PW", SECRET)


def _project(folder: Path) -> Path:
    root = a_project(
        folder / "project",
        files={
            "configs/base.yml": BASE.replace("vars: {", 'vars: {pw: "{{ env.PW }}", '),
            "pipelines/payments.yml": PIPELINE.format(name="payments", source="events")
            + "  hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL\n"
            + "checks: [{name: a, where: amount < 0}]\ninputs: {tips: {table: raw.tips, read: incremental, drives: {id: id}}}\n"
            + "backfill: {event_time: updated_at}\n"
            + ACCEPTS,
            "transformers/payments.sql": "SELECT s.id, s.amount, s.updated_at FROM <SRC> s LEFT JOIN tips t ON s.id = t.id "
            "WHERE s.id <> '{{ var.pw | upper }}'\n",
        },
    )
    events = a_table(root, "raw/events", 10, 20)
    events.archive((5, "commit", commit()))
    events.done(30, clean(at(9)), "clean")
    a_table(root, "raw/tips", 10, 20)
    a_target(root, (15, 10))
    return root


def _tree(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and ".freshet" not in path.parts}


def _said(root: Path, words: tuple[str, ...]) -> tuple[int, Any, str]:
    result = CliRunner().invoke(main, [*words, "--output", "json", "-C", str(root)])
    said = result.stdout + result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    assert not [word for word in ("Traceback", "UNEXPECTED_ERROR", "s3cr3t-0", "9-token", "S3CR3T-0") if word in said], said
    return result.exit_code, json.loads(result.stdout), said


@cache
def _codes() -> frozenset[str]:
    """Return all codes that the product's own text holds: one that is made of anything else is nobody's."""
    texts = [
        node.value
        for path in (Path(__file__).parents[3] / "framework").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant)
    ]
    return frozenset(text for text in texts if isinstance(text, str) and _CODE.fullmatch(text))


def _codes_in(found: object) -> Iterator[str]:
    if isinstance(found, dict):
        yield from (found[key] for key in ("code", "state") if str(found.get(key, "")).isupper())
        for value in found.values():
            yield from _codes_in(value)
    elif isinstance(found, list):
        for value in found:
            yield from _codes_in(value)


def _place(data: st.DataObject, content: bytearray) -> int:
    # Avro and Parquet files differ by some bytes from one example to the next, which a draw must not depend on.
    return data.draw(st.integers(0, 10**6)) * len(content) // 10**6


@pytest.mark.timeout(3600)
@settings(
    max_examples=100 * _EXAMPLES,
    deadline=None,
    derandomize=_EXAMPLES == 1,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_a_garbled_file_is_an_error_of_ours_and_nothing_is_lost(data: st.DataObject) -> None:
    """YAML, DDL, SQL, timeline, archive, properties; what is still right may of course pass.

    No command writes anything over it, so that with the file as it was the next run is the one that it was.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = _project(Path(folder))
        before, planned = _tree(root), _said(root, ("plan",))
        words = data.draw(st.sampled_from(_WORDS))
        assert _said(root, words)[0] == planned[0] == 0, planned
        path = data.draw(st.sampled_from(sorted(before)))
        content = bytearray(before[path])
        how = data.draw(st.sampled_from(["cut", "garble", "both", "gone"]))
        if how in ("cut", "both"):
            del content[_place(data, content) :]
        for _ in range(data.draw(st.integers(1, 3)) if how in ("garble", "both") else 0):
            place = _place(data, content)
            content[place : place + data.draw(st.integers(0, 4))] = data.draw(_JUNK)
        path.write_bytes(bytes(content))
        if how == "gone":
            path.unlink()
        damaged = _tree(root)
        code, found, said = _said(root, words)
        assert code in (0, 3, 5), (path, bytes(content), said)
        assert isinstance(found, dict)
        assert set(_codes_in(found)) <= _codes(), said
        assert _tree(root) == damaged
        path.write_bytes(before[path])
        assert _said(root, ("plan",)) == planned
