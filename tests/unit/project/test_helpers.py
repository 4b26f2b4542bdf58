"""Python that steps share: every file that a step reaches is part of the pipeline, and one that is not there has its line."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from freshet.errors import SpecError
from freshet.jvm.submit import write_archive
from freshet.project.load.project import load_project
from tests.kit.project import PIPELINE, a_project

STEP = "transformers/step.py"
FARES = "def net(fare):\n    return fare\n"
END = "\ndef transform(inputs, context):\n    return inputs['SRC']\n"


def a_step(folder: Path, imports: str, **files: str) -> Path:
    """Write a project whose one step imports something; ``lib__fares`` stands for ``transformers/lib/fares.py``."""
    pipeline = PIPELINE.format(name="payments", source="events").replace("transformers/payments.sql", STEP)
    helpers = {f"transformers/{name if '/' in name else name.replace('__', '/')}.py": text for name, text in files.items()}
    return a_project(folder, files={"pipelines/payments.yml": pipeline, STEP: imports + END, **helpers})


def problems_of(folder: Path, imports: str, **files: str) -> list[tuple[str, int, str]]:
    try:
        load_project(a_step(folder, imports, **files), environ={})
    except SpecError as error:
        return [(one.file, one.line, one.code) for one in error.problems]
    return []


def helpers_of(folder: Path, imports: str, **files: str) -> tuple[str, ...]:
    (spec,) = load_project(a_step(folder, imports, **files), environ={}).pipelines
    return tuple(name.removeprefix("transformers/") for step in spec.transform for name in step.helpers)


@pytest.mark.parametrize(
    "imports",
    [
        "from transformers.lib.fares import net",
        "from transformers.lib import fares",
        "import transformers.lib.fares as f",
        "def inner():\n    from transformers.lib.fares import net\n",
        "from transformers.lib.fares import *",
        "try:\n    import transformers.lib.fares\nexcept ImportError:\n    pass\n",
    ],
)
def test_whatever_a_step_imports_is_found(tmp_path: Path, imports: str) -> None:
    assert helpers_of(tmp_path, imports, lib__fares=FARES, lib__other="") == ("lib/fares.py",)


def test_helpers_of_helpers_are_found_each_once(tmp_path: Path) -> None:
    found = helpers_of(
        tmp_path,
        "from transformers.lib.fares import net\nfrom transformers.helpers import old\nimport transformers.absent",
        lib__fares="from . import tax\nfrom .money.cents import cents\nnet = 1",
        lib__tax="from transformers.lib import fares\nx = 1",
        lib__money__cents="from ..tax import x as y\ncents = 1",
        helpers="old = 1",
        **{"lib/__init__": ""},
    )
    assert found == ("helpers.py", "lib/__init__.py", "lib/fares.py", "lib/money/cents.py", "lib/tax.py")


@pytest.mark.parametrize(
    ("imports", "line"),
    [
        ("\nfrom transformers.lib.faers import net", 2),
        ("import transformers.lib.faers", 1),
        ("from transformers.lib import fares, faers", 1),
        ("from transformers.lib.fares import net, nett", 1),
        ("from transformers.lib.fares.deep import x", 1),
        ("def f():\n    from transformers.lib.no import x\n", 2),
        ("from .lib.fares import net", 1),
        ("if 1:\n  pass\nelse:\n  import transformers.lib.no\n", 4),
        ("try:\n    pass\nexcept ImportError:\n    import transformers.lib.no\n", 4),
    ],
)
def test_a_helper_that_is_not_there_has_its_line(tmp_path: Path, imports: str, line: int) -> None:
    assert problems_of(tmp_path, imports, lib__fares=FARES) == [(STEP, line, "HELPER_MISSING")]


@pytest.mark.parametrize(
    "imports",
    [
        # Of packages that are installed, freshet knows nothing; so too of what may be missing, and of later names.
        "import transformers.models\nfrom transformers import pipeline\nimport lib.fares",
        "try:\n    from transformers.lib.no import x\nexcept ImportError:\n    x = None\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from transformers.lib.no import x\n",
        "from transformers.lib.late import anything",
        "from transformers.lib.fares import name, other, third, e\n",
    ],
)
def test_no_alarm_without_need(tmp_path: Path, imports: str) -> None:
    fares = "import os.path as other\ntry:\n    name = 1\nexcept ValueError as e:\n    pass\nfor third in (): pass\n"
    assert problems_of(tmp_path, imports, lib__fares=fares, lib__late="globals()['anything'] = 1") == []


def test_what_is_wrong_within_a_helper_stands_there(tmp_path: Path) -> None:
    imports = "from transformers.lib.fares import net"
    assert problems_of(tmp_path, imports, lib__fares="\nnet = (") == [("transformers/lib/fares.py", 2, "PYTHON_SYNTAX")]
    assert problems_of(tmp_path, imports, lib__fares="net = 1\nfrom .gone import x") == [
        ("transformers/lib/fares.py", 2, "HELPER_MISSING"),
    ]


def test_the_fingerprint_is_of_the_helpers_too(tmp_path: Path) -> None:
    def of(fares: str, tax: str, unused: str = "") -> str:
        root = a_step(
            tmp_path,
            "from transformers.lib.fares import net",
            lib__fares="from .tax import rate\n" + fares,
            lib__tax=tax,
            lib__unused=unused,
        )
        return load_project(root, environ={}).pipelines[0].fingerprint

    first = of("net = 1", "rate = 1")
    assert of("net = 1", "rate = 1", "x = 1") == first
    assert len({first, of("net = 2", "rate = 1"), of("net = 1", "rate = 2")}) == 3


def test_helpers_are_shipped(tmp_path: Path) -> None:
    root = a_step(tmp_path / "p", "from transformers.lib.fares import net", lib__fares=FARES)
    archive = write_archive(str(root), tmp_path / "archive.zip")
    held = set(zipfile.ZipFile(archive).namelist())
    # Without entries of their own the folders of a zip cannot be imported from.
    assert {"transformers/lib/fares.py", "transformers/lib/", "transformers/"} <= held
