"""The command as a process of its own: what it imports, how it ends when it is interrupted or nobody reads on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from freshet.lease.local import hold_lease
from freshet.project.model.pipeline import TableRef
from tests.kit.project import a_project
from tests.kit.timeline import a_table, a_target

pytestmark = pytest.mark.waits
FRESHET = (sys.executable, "-m", "freshet")
HEAVY = ("pyspark", "py4j", "pandas", "great_expectations", "pyarrow", "rich", "sqlglot")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("FRESHET_ENV", "FRESHET_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return a_project(tmp_path / "project")


def _imported(stderr: str) -> set[str]:
    lines = [line for line in stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_idle_tick_imports_nothing_heavy(root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    subprocess.run([*FRESHET, "validate", "-C", str(root)], check=True, capture_output=True)
    tick = [sys.executable, "-X", "importtime", "-m", "freshet", "run", "payments", "-C", str(root)]
    done = subprocess.run(tick, capture_output=True, text=True, check=True)
    assert done.stdout == "payments: nothing to do: no commit since the checkpoint\n"
    seen = _imported(done.stderr)
    assert "fastavro" in seen
    assert not seen & set(HEAVY)


def test_what_looks_without_writing_imports_no_spark(root: Path) -> None:
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    program = f"""
import sys
from click.testing import CliRunner
from freshet.cli.main import main
for words in (["init", {str(root.parent / "new")!r}], ["schema"], *([*w, "-C", {str(root)!r}] for w in (
        ["validate"], ["compile"], ["plan"], ["run", "payments", "--dry-run"], ["status"],
        ["checkpoint", "show", "payments"]))):
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, (words, result.output)
print(sorted(set(sys.modules) & {{"pyspark", "py4j", "great_expectations"}}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("others", [(), ("refunds",)])
def test_interrupt_ends_with_130_and_leaves_no_lease(root: Path, others: tuple[str, ...]) -> None:
    target = TableRef("derived.payments", str(root / "data/derived/payments"))
    with ExitStack() as held:
        held.enter_context(hold_lease(target, "the-other-run", 0, lambda words: None))
        for name in others:
            # In a thread of its own, which waits as well.
            a_project(root, name)
            other = TableRef(f"derived.{name}", str(root / f"data/derived/{name}"))
            held.enter_context(hold_lease(other, "the-other-run", 0, lambda words: None))
        words = ["run", "--all", "--wait", "60", "-C", str(root)]
        run = subprocess.Popen([*FRESHET, *words], stderr=subprocess.PIPE, text=True)
        assert run.stderr is not None
        for _ in ("payments", *others):
            assert "is being written by run the-other-run" in run.stderr.readline()
        run.send_signal(signal.SIGINT)
        rest = run.communicate(timeout=10)[1]
    assert run.returncode == 130
    assert rest.startswith("INTERRUPTED: ")
    assert "Traceback" not in rest
    with hold_lease(target, "the-next-run", 0, lambda words: None):
        pass


@pytest.mark.parametrize("words", [("schema",), ("compile",), ("validate", "--output", "json")])
def test_a_reader_that_left_is_no_error(root: Path, words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as out:
        done = subprocess.run([*FRESHET, *words, "-C", str(root)], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_reader_of_messages_that_left_does_not_end_the_run(root: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    with open(writer, "wb") as err:
        words = [*FRESHET, "run", "--all", "-C", str(root)]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=err, text=True, check=False)
    assert done.stdout == "payments: nothing to do: no commit since the checkpoint\n"
    assert done.returncode == 0
