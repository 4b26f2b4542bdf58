"""Run what needs no JVM, and the first hour from a wheel, by each other Python of this machine that ``setup.cfg`` allows.

`python -m tests.kit.pythons` makes an environment for each in `build/pythons`, without the lock file, which is of one
Python; it ends with the first failure.
"""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

ROOT = Path(__file__).parents[2]
_TESTS = (
    ("tests/unit", "-n", "2"),
    ("tests/scenarios/test_first_hour.py", "-k", "wheel"),
)


def others() -> list[Path]:
    """Return the interpreters, one for each minor version that the package is declared for, but for the one that asks."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    declared = [line.rpartition(" ")[2] for line in setup["metadata"]["classifiers"].splitlines() if ":: Python :: 3." in line]
    found = []
    for version in declared:
        if version == f"3.{sys.version_info.minor}":
            continue
        there = which(f"python{version}")
        # A shim of pyenv answers for versions that are not chosen, and then runs none.
        kept = sorted((Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions").glob(f"{version}.*/bin/python"))
        works = there and subprocess.run([there, "-c", ""], capture_output=True, check=False).returncode == 0
        if works or kept:
            found.append(Path(there) if works and there else kept[-1])
        else:
            print(f"Python {version} is not on this machine: nothing was run by it.", flush=True)
    return found


def environment(python: Path) -> Path:
    """Make an environment with freshet's and its tests' requirements; returns its interpreter."""
    version = subprocess.check_output([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True).strip()
    folder = ROOT / "build" / "pythons" / version
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = folder / "bin" / "python"
    # PySpark is published as source only, and built by what stands in the environment.
    for words in (["setuptools", "wheel"], ["--no-build-isolation", f"{ROOT}[test]"]):
        subprocess.run(
            [made, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *words], check=True
        )
    return made


def main() -> None:
    """Make each environment, and run the tests in it."""
    for python in others():
        made = environment(python)
        print(f"tests by {python}", flush=True)
        for words in _TESTS:
            subprocess.run([made, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
