"""Break one line of freshet at a time, in a copy, and say whether the test that must see it goes red.

python -m tests.mutations [PART OF A FILE'S NAME]

Ends with 1 where a line could be broken unseen. Samples that need Spark take some 20 s each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
SAMPLES = Path(__file__).with_name("samples.yml")
_COPIED = ("framework", "tests", "configs", "ddl", "docs", "pipelines", "transformers")
_FILES = ("pyproject.toml", "setup.cfg", "mkdocs.yml", "README.md", "CONTRIBUTING.md", "Makefile")
_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A line, how it is broken, and the test of ``make test`` that goes red.

    Args:
        file: Under ``framework/freshet``.
        line: Its text, once in the file, without the indent.
        broken: What takes its place.
        red: Test module, and after a space words for pytest's ``-k``.
        claim: What would be wrong with it broken.
    """

    file: str
    line: str
    broken: str
    red: str
    claim: str


def samples(part: str = "") -> list[Sample]:
    """Return the samples of ``samples.yml`` whose file's name has a part in it."""
    return [one for one in (Sample(**found) for found in yaml.safe_load(SAMPLES.read_text("utf-8"))) if part in one.file]


def broken(sample: Sample) -> str:
    """Return the text of a sample's file with its line broken. Raises ValueError where the line is not there once."""
    text = (ROOT / "framework/freshet" / sample.file).read_text("utf-8")
    if text.count(sample.line) != 1:
        raise ValueError(f"{sample.file} has {text.count(sample.line)} times: {sample.line}")
    return text.replace(sample.line, sample.broken)


def _run(copy: Path, sample: Sample) -> int:
    module, _, words = sample.red.partition(" ")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", module, *(["-k", words] if words else [])]
    paths = os.pathsep.join((str(copy / "framework"), str(copy)))
    return subprocess.run(
        command,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    ).returncode


def main(part: str = "") -> int:
    """Return 1 where a test stayed green or could not be run, and 0 otherwise."""
    unseen = 0
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place)
        for name in _COPIED:
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        for name in _FILES:
            shutil.copy(ROOT / name, copy / name)
        for sample in samples(part):
            target = copy / "framework/freshet" / sample.file
            whole = target.read_text("utf-8")
            target.write_text(broken(sample), "utf-8")
            code = _run(copy, sample)
            target.write_text(whole, "utf-8")
            # 1: tests failed. Anything else but 0 means that none was run.
            said = {0: "GREEN", 1: "red"}.get(code, f"NOT RUN ({code})")
            unseen += code != 1
            print(f"{said:8}  {sample.file}: {sample.claim}  ({sample.red})", flush=True)
    return int(bool(unseen))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
