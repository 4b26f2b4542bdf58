"""Steps and their helpers are loaded as their files stand, of the right project, and travel whole to the executors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import cloudpickle

from freshet.errors import DataError
from freshet.transform.modules import load_step
from freshet.transform.python import Context, run_python

STEP = "transformers/step.py"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(("transformers", "freshet_step_")):
            del sys.modules[name]


def write(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    # As fast as an editor never is: the same second and size tell nothing.
    os.utime(path, (1, 1))


def result(root: Path) -> object:
    return load_step(str(root), STEP).transform({}, None)


def test_a_helper_is_read_anew_when_it_changed(tmp_path: Path) -> None:
    write(tmp_path, "transformers/lib/deep/rate.py", "rate = 1")
    write(tmp_path, "transformers/lib/fares.py", "from .deep.rate import rate\ndef net(): return rate")
    write(tmp_path, STEP, "from transformers.lib.fares import net\ndef transform(i, c): return net() * 10")
    assert result(tmp_path) == 10
    same = sys.modules["transformers.lib.fares"]
    assert result(tmp_path) == 10
    assert sys.modules["transformers.lib.fares"] is same, "unchanged: a class in it stays the same class"
    write(tmp_path, "transformers/lib/deep/rate.py", "rate = 2")
    assert result(tmp_path) == 20, "a helper of a helper"
    write(tmp_path, STEP, "from transformers.lib.fares import net\ndef transform(i, c): return net() * 11")
    assert result(tmp_path) == 22
    (tmp_path / "transformers/lib/fares.py").unlink()
    with pytest.raises(ModuleNotFoundError):
        result(tmp_path)
    write(tmp_path, "transformers/lib/fares/__init__.py", "def net(): return 3")
    assert result(tmp_path) == 33
    late = "try:\n  from transformers.lib.late import x\nexcept ImportError:\n  x = 0\n"
    write(tmp_path, STEP, late + "def transform(i, c): return x")
    assert result(tmp_path) == 0
    write(tmp_path, "transformers/lib/late.py", "x = 1")
    assert result(tmp_path) == 1


def test_each_project_has_its_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / name, "transformers/lib/fares.py", f"name = '{name}'")
        write(tmp_path / name, STEP, "from transformers.lib.fares import name\ndef transform(i, c): return name")
    write(tmp_path / "a", "transformers/lib/only.py", "x = 1")
    assert [result(tmp_path / name) for name in ("a", "b", "a", "b")] == ["a", "b", "a", "b"]
    write(tmp_path / "b", STEP, "import transformers.lib.only\ndef transform(i, c): return 1")
    with pytest.raises(ModuleNotFoundError):
        result(tmp_path / "b")
    assert str(tmp_path / "a") not in sys.path


def test_an_installed_package_of_that_name_is_no_clash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "site"
    write(installed, "transformers/__init__.py", "who = 'installed'")
    write(installed, "transformers/models.py", "count = 7")
    monkeypatch.syspath_prepend(str(installed))
    root = tmp_path / "project"
    write(root, "transformers/lib/fares.py", "rate = 3")
    write(
        root,
        STEP,
        "from transformers import who\nfrom transformers.models import count\n"
        "from transformers.lib.fares import rate\ndef transform(i, c): return who, count, rate",
    )
    assert result(root) == ("installed", 7, 3)
    write(root, "transformers/lib/fares.py", "rate = 4")
    assert result(root) == ("installed", 7, 4)


def test_what_a_udf_takes_from_a_helper_travels_whole(tmp_path: Path) -> None:
    write(tmp_path, "transformers/lib/fares.py", "import math\nRATE = 2\ndef net(x): return math.floor(x * RATE)")
    write(
        tmp_path,
        STEP,
        "from transformers.lib import fares\nfrom transformers.lib.fares import net\n"
        "def transform(i, c): return lambda x: (net(x), fares.net(x))",
    )
    found = tmp_path / "pickled"
    found.write_bytes(cloudpickle.dumps(result(tmp_path)))
    # As in an executor: another process, without the project.
    done = subprocess.run(
        [sys.executable, "-c", "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb'))(1.7))", str(found)],
        cwd=tmp_path / "transformers" / "lib",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.strip() == "(3, 3)", done.stderr


@pytest.mark.parametrize(
    ("helper", "place"),
    [
        ("def net(x):\n    return 1 / 0", "transformers/lib/fares.py:2: ZeroDivisionError"),
        ("\nnet = (", "transformers/lib/fares.py:2: SyntaxError"),
        ("def net(x):\n    return int(x)", "transformers/lib/fares.py:2: ValueError"),
        ("def other(x): return x", "transformers/step.py:1: ImportError"),
    ],
)
def test_an_error_has_the_place_where_it_was_raised(tmp_path: Path, helper: str, place: str) -> None:
    write(tmp_path, "transformers/lib/fares.py", helper)
    write(tmp_path, STEP, "from transformers.lib.fares import net\ndef transform(i, c): return net('x')")
    with pytest.raises(DataError) as raised:
        run_python(str(tmp_path), STEP, {}, Context(spark=None, pipeline="a", env="base", vars={}))  # type: ignore[arg-type]
    assert raised.value.code == "PYTHON_ERROR"
    assert raised.value.message.startswith(place)
    assert raised.value.details["file"] == place.partition(":")[0]
