"""``freshet test --watch`` without Spark: what a save runs again, what a broken file does, how the keyboard ends it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import freshet.cli.test as command
from freshet.cli.signals import INTERRUPTED
from freshet.cli.watch import watch
from tests.kit.project import PIPELINE, a_project
from tests.unit.cli.conftest import Freshet

pytestmark = pytest.mark.waits
CASES = 'tables:\n  SRC: {schema: "id string"}\ncases:\n  a: {given: {SRC: [{id: x}]}, expect: {rows: []}}\n'
STEP = "from transformers.lib.fares import net\n\ndef transform(inputs, context):\n    return inputs['SRC']\n"


class Person:
    """Saves files while nothing runs, one after the other, and then presses Ctrl-C."""

    def __init__(self, root: Path, *saves: Callable[[], object]) -> None:
        self.root, self.saves = root, iter(saves)
        self.rounds: list[frozenset[str]] = []

    def __call__(self, saved: frozenset[str]) -> None:
        self.rounds.append(saved)
        save = next(self.saves, None)
        # Later than the command begins to look: what is saved in a round counts too, and another test is about that.
        threading.Timer(0.05, save or self.leave).start()

    @staticmethod
    def leave() -> None:
        os.kill(os.getpid(), 2)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.cli.watch._LOOKS_EVERY", 0.02)
    monkeypatch.setattr("freshet.cli.watch._QUIET_FOR", 0.05)


def watched(root: Path, *saves: Callable[[], object]) -> list[set[str]]:
    person = Person(root, *saves)
    assert watch(root, person) == INTERRUPTED
    return [set(one) for one in person.rounds]


def test_what_counts_as_a_save(tmp_path: Path) -> None:
    """Each folder of a project, a file that a pipeline names elsewhere, one that is new, gone or put in another's place."""
    root = a_project(tmp_path, files={"transformers/lib/fares.py": "", "warehouse/raw/x/1.json": "", "checks/trips.json": "{}"})
    later = iter(range(2_000_000_000, 2_000_000_100))

    def write(name: str, text: str = "x") -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (now := next(later), now))

    def replaced() -> None:
        old = (root / "ddl/payments.sql").stat()
        write("ddl/.payments.tmp", (root / "ddl/payments.sql").read_text("utf-8"))
        os.utime(root / "ddl/.payments.tmp", ns=(old.st_atime_ns, old.st_mtime_ns))
        (root / "ddl/.payments.tmp").rename(root / "ddl/payments.sql")

    def ignored_and_then_one() -> None:
        for name in ("warehouse/raw/x/1.json", "transformers/__pycache__/a.py", "ddl/.a.sql.swp", "ddl/a.sql~", "notes.txt"):
            write(name)
        write("pipelines/tests/payments.yml")

    pipeline = PIPELINE.format(name="payments", source="events") + "checks: [{name: a, suite: checks/trips.json}]\n"
    assert watched(
        root,
        lambda: write("transformers/lib/fares.py"),
        lambda: write("transformers/lib/new.py"),
        replaced,
        lambda: (root / "transformers/lib/new.py").unlink(),
        ignored_and_then_one,
        lambda: write("pipelines/payments.yml", pipeline),
        lambda: write("checks/trips.json"),
        lambda: (write("configs/base.yml"), write("pipelines/tests/rows.csv")),
    ) == [
        set(),
        {"transformers/lib/fares.py"},
        {"transformers/lib/new.py"},
        {"ddl/payments.sql"},
        {"transformers/lib/new.py"},
        {"pipelines/tests/payments.yml"},
        {"pipelines/payments.yml"},
        {"checks/trips.json"},
        {"configs/base.yml", "pipelines/tests/rows.csv"},
    ]


def test_what_is_saved_while_cases_run_counts_for_the_next_round(tmp_path: Path) -> None:
    root, rounds = a_project(tmp_path), []

    def do(saved: frozenset[str]) -> None:
        rounds.append(set(saved))
        if len(rounds) == 1:
            (root / "ddl/payments.sql").write_text("x", encoding="utf-8")
        else:
            threading.Timer(0.05, Person.leave).start()

    assert watch(root, do) == INTERRUPTED
    assert rounds == [set(), {"ddl/payments.sql"}]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the pipelines whose cases seem to have run, round by round; the rounds are those of a test's saves."""
    found: list[list[str]] = []

    def run(project: Any, suites: list[Any], *_: object) -> None:
        found.append([suite.spec.name for suite in suites])

    monkeypatch.setattr(command, "_run", run)
    return found


def test_a_save_runs_the_cases_that_depend_on_it(
    root: Path,
    freshet: Freshet,
    ran: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And no others: YAML, DDL, SQL, a step, a helper, cases, a CSV file of theirs, an upstream's DDL, a config for all."""
    refunds = PIPELINE.format(name="refunds", source="events").replace("transformers/refunds.sql", "transformers/step.py")
    behind = PIPELINE.format(name="behind", source="payments").replace("raw_root", "derived_root")
    a_project(
        root,
        files={"pipelines/tests/payments.yml": CASES, "transformers/step.py": STEP, "transformers/lib/fares.py": "net = 1"},
    )
    a_project(
        root,
        "refunds",
        files={
            "pipelines/refunds.yml": refunds,
            "pipelines/tests/refunds.yml": CASES.replace("[{id: x}]", "rows.csv"),
            "pipelines/tests/rows.csv": "id\nx\n",
        },
    )
    a_project(root, "behind", files={"pipelines/behind.yml": behind})

    def changed(name: str, before: str, after: str) -> None:
        text = (root / name).read_text("utf-8")
        assert before in text
        (root / name).write_text(text.replace(before, after), encoding="utf-8")

    saves: list[tuple[tuple[str, str, str], list[list[str]]]] = [
        (("transformers/lib/fares.py", "net = 1", "net = 2"), [["refunds"]]),
        (("transformers/step.py", "return", "return  "), [["refunds"]]),
        (("pipelines/tests/rows.csv", "x", "y"), [["refunds"]]),
        (("pipelines/tests/payments.yml", "id: x", "id: y"), [["payments"]]),
        (("transformers/payments.sql", "<SRC>", "<SRC> s"), [["payments"]]),
        (("pipelines/behind.yml", "ddl:", "owner: me\nddl:"), [["behind"]]),
        (("ddl/payments.sql", "amount DECIMAL(10,2)", "amount DECIMAL(11,2)"), [["payments", "behind"]]),
        (("configs/base.yml", "raw: ", "raw:  "), []),
        (("configs/base.yml", "data/raw", "data/rawest"), [["payments", "refunds", "behind"]]),
        # Wrong, and mended: nothing runs by half.
        (("transformers/lib/fares.py", "net = 2", "net = ("), []),
        (("ddl/refunds.sql", "'id'", "'idd'"), []),
        (("transformers/lib/fares.py", "net = (", "net = 2"), []),
        (("ddl/refunds.sql", "'idd'", "'id'"), [["refunds"]]),
    ]
    steps = iter(saves)
    expected: list[list[list[str]]] = []
    seen: list[list[list[str]]] = []
    original = command._Rounds.run

    def round_(self: Any, saved: frozenset[str]) -> None:
        before = len(ran)
        original(self, saved)
        seen.append([sorted(one) for one in ran[before:]])
        step = next(steps, None)
        if step is None:
            threading.Timer(0.05, Person.leave).start()
            return
        expected.append([sorted(one) for one in step[1]])
        threading.Timer(0.05, changed, step[0]).start()

    monkeypatch.setattr(command._Rounds, "run", round_)
    result = freshet("test", "--watch")
    assert result.exit_code == 130, result.output
    assert seen[0] == [["behind", "payments", "refunds"]]
    assert seen[1:] == expected
    assert "transformers/lib/fares.py:1: PYTHON_SYNTAX" in result.stderr
    assert result.stderr.splitlines()[-1].endswith("stopped by the keyboard; no case was running")


def test_wrong_command_lines(freshet: Freshet) -> None:
    assert freshet("test", "--watch", "--from-data").exit_code == 2
    assert freshet("test", "--watch", "--output", "json").exit_code == 2
    assert freshet("test", "nobody", "--watch").exit_code == 2
