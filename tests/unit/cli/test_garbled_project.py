"""Any file of a project or of its tables, cut or garbled at any byte: an error of ours, and nothing else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from framework.cli.main import main
from framework.spec.secrets import REDACTOR
from framework.state import actions, properties
from tests.kit.project import BASE, PIPELINE, a_project
from tests.kit.timeline import a_table, a_target

SECRET = "s3cr3t-0123456789-token"
_JUNK = st.one_of(
    st.binary(max_size=6),
    st.sampled_from([b"{{", b"}}", b"{%", b"'", b'"', b"`", b"/*", b";", b"\x00", b"\xff", b"\r", b"&a", b"*a", b"!!", b": ",
                     b"- ", b"(", b"=", b"\\", b"<SRC>", "²".encode(), b"\n", b"#"]),
)
_WORDS = [("validate",), ("plan",), ("compile",), ("status",), ("checkpoint", "show", "payments")]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(actions, "WAITS", ())
    monkeypatch.setattr(properties, "WAITS", ())
    monkeypatch.setenv("PW", SECRET)
    yield
    REDACTOR.__init__()  # type: ignore[misc]


def _project(folder: Path) -> Path:
    root = a_project(folder / "project", files={
        "configs/base.yml": BASE.replace("vars: {", "vars: {pw: \"{{ env.PW }}\", "),
        "pipelines/payments.yml": PIPELINE.format(name="payments", source="events")
        + "checks: [{name: a, where: amount < 0}]\n",
        "transformers/payments.sql": "SELECT id, amount, updated_at FROM <SRC> WHERE id <> '{{ var.pw | upper }}'\n",
    })
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    return root


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_garbled_file_is_an_error_of_ours(data: st.DataObject) -> None:
    """YAML, DDL, SQL, timeline, properties; what is still right may of course pass."""
    with tempfile.TemporaryDirectory() as folder:
        root = _project(Path(folder))
        path = data.draw(st.sampled_from(sorted(p for p in root.rglob("*") if p.is_file())))
        content = bytearray(path.read_bytes())
        if data.draw(st.booleans()):
            del content[data.draw(st.integers(0, len(content))):]
        for _ in range(data.draw(st.integers(0, 3))):
            place = data.draw(st.integers(0, len(content)))
            content[place:place + data.draw(st.integers(0, 4))] = data.draw(_JUNK)
        path.write_bytes(bytes(content))
        words = data.draw(st.sampled_from(_WORDS))
        result = CliRunner().invoke(main, [*words, "--output", "json", "-C", str(root)])
        said = result.stdout + result.stderr
        assert result.exit_code in (0, 3, 5), (path, bytes(content), said)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert isinstance(json.loads(result.stdout), dict)
        assert not [word for word in ("Traceback", "UNEXPECTED_ERROR", "s3cr3t-0", "9-token", "S3CR3T-0") if word in said], said
