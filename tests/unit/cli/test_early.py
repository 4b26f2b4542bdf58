"""A signal before a command has begun, while Python still imports: one line, one document, the documented code."""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from freshet.cli.main import main

_DASH_M = [sys.executable, "-m", "freshet"]
# As the installed script does it; the package is the one under test.
_SCRIPT = "import sys; sys.argv[:] = ['/x/bin/freshet', *sys.argv[1:]]\nfrom freshet.cli.main import main\nsys.exit(main())"
# A stand-in for a slow disk: the signal comes within the import of the module that is named, not after some time.
_AT = """
import importlib.abc, os, signal, sys
{begin}
class At(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, At())
"""


def _run(module: str, number: int, *words: str) -> subprocess.CompletedProcess[str]:
    # Whoever runs these tests by nohup ignores it for them, too.
    heard = "signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    source = _AT.format(begin=heard, module=module, number=int(number)) + _SCRIPT
    return subprocess.run([sys.executable, "-c", source, *words], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("module", "number", "code", "words"),
    [
        ("click", signal.SIGINT, 130, ("plan", "--output", "json")),
        ("freshet.errors", signal.SIGTERM, 143, ("plan",)),
        ("freshet.project.load.project", signal.SIGHUP, 129, ("plan", "--output=json")),
        ("freshet.cli.plan", signal.SIGINT, 130, ("plan",)),
    ],
)
def test_a_signal_while_it_imports(module: str, number: int, code: int, words: tuple[str, ...]) -> None:
    """In the first import of another's, of our own, in the middle, and in the command's own module."""
    done = _run(module, number, *words)
    assert (done.returncode, done.stderr.count("\n"), done.stderr.split(":")[0]) == (code, 1, "INTERRUPTED"), done.stderr
    if len(words) > 1:
        assert json.loads(done.stdout)["error"]["code"] == "INTERRUPTED"
    else:
        assert done.stdout == ""


def test_the_other_entry_point(tmp_path: Path) -> None:
    """``python -m freshet`` in a process of its own: a real signal, as soon as the process answers it."""
    process = subprocess.Popen(
        [*_DASH_M, "plan", "--output", "json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    caught, status = 0, Path(f"/proc/{process.pid}/status")
    while not caught & 1 << (signal.SIGTERM - 1):
        assert process.poll() is None
        time.sleep(0.001)
        caught = int(next(line for line in status.read_text().splitlines() if line.startswith("SigCgt")).split()[1], 16)
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["error"]["code"], said.count("\n")) == (143, "INTERRUPTED", 1), said


def test_in_another_program_everything_can_still_be_collected() -> None:
    """Of a process of its own ``test_a_tick_without_news_imports_what_it_needs`` tells that it keeps what is imported."""
    before = gc.get_freeze_count()
    assert CliRunner().invoke(main, ["plan", "--help"]).exit_code == 0
    assert gc.get_freeze_count() == before


def test_nohup_stays(tmp_path: Path) -> None:
    source = _AT.format(begin="signal.signal(signal.SIGHUP, signal.SIG_IGN)", module="click", number=1) + _SCRIPT
    done = subprocess.run([sys.executable, "-c", source, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
