"""With ``--output json`` stdout holds one JSON document whatever happens, a wrong command line included."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freshet.cli.output import Output
from freshet.errors import FreshetError
from freshet.events.kinds import Committed
from freshet.run.result import RunResult
from tests.kit.timeline import a_table
from tests.unit.cli.conftest import Freshet


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (("plan", "--bogus"), 2, "USAGE"),
        (("nosuch",), 2, "USAGE"),
        (("--bogus", "plan"), 2, "USAGE"),
        (("checkpoint", "nosuch"), 2, "USAGE"),
        (("checkpoint", "set", "payments"), 2, "USAGE"),
        (("run",), 2, "USAGE"),
        (("checkpoint", "set", "payments", "yesterday"), 2, "USAGE"),
        (("run", "--all", "--parallel", "x"), 2, "USAGE"),
        (("validate", "--set", "nonsense"), 3, "INVALID_PROJECT"),
        (("plan", "nosuch"), 2, "UNKNOWN_PIPELINE"),
        (("validate", "-C", "/nowhere"), 3, "INVALID_PROJECT"),
        (("run", "--all", "--op", "UPSERT"), 2, "USAGE"),
        (("run", "--tag", "nosuch"), 2, "UNKNOWN_TAG"),
    ],
)
def test_what_is_refused(freshet: Freshet, words: tuple[str, ...], exit_code: int, code: str) -> None:
    """A wrong option of the group, of a command, of a nested one; a wrong argument, type, setting, name, folder."""
    result = freshet(*words, "--output", "json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (exit_code, code)
    assert json.loads(freshet(*words, "--output=json").stdout)["error"]["code"] == code


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), ValueError("x"), MemoryError(), RecursionError(), OSError(5, "y")])
def test_what_fails_while_it_works(freshet: Freshet, monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> None:
    def broken(*_: object) -> None:
        raise raised

    monkeypatch.setattr("freshet.cli.run.run_project", broken)
    result = freshet("run", "--all", "--output", "json")
    assert json.loads(result.stdout)["error"]["code"] in ("INTERRUPTED", "UNEXPECTED_ERROR")


def test_what_fails_after_the_result(freshet: Freshet, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result stays the only document; the error is on stderr and in the exit code."""

    def broken(_: str) -> None:
        raise FreshetError("LATER", "something after the result")

    a_table(root, "raw/events", 10)
    (root / "data/raw/events/.hoodie/hoodie.properties").write_text("hoodie.table.version=6\n")
    monkeypatch.setattr("freshet.cli.state.message", broken)
    result = freshet("status", "--output", "json")
    assert (result.exit_code, list(json.loads(result.stdout))) == (1, ["pipelines"])
    assert "LATER" in result.stderr


def test_a_command_that_cannot_be_imported(freshet: Freshet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("freshet.cli.main", fromlist=["x"])._COMMANDS, "plan", "freshet.cli.nothing")
    result = freshet("plan", "--output", "json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (1, "UNEXPECTED_ERROR")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("--op", "hoodie.datasource.write.operation"),
        ("--continuous", "--drain"),
        ("--checkpoint", "freshet checkpoint set"),
        ("--hoodie-conf", "--set"),
        ("--props", "hoodie:"),
    ],
)
def test_an_option_of_hoodiestreamer_has_an_answer(freshet: Freshet, option: str, hint: str) -> None:
    result = freshet("run", "--all", option, "x")
    assert (result.exit_code, hint in result.stderr) == (2, True)


def test_an_interrupted_command_says_what_was_published(freshet: Freshet, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object, __: object, listen: object, *___: object) -> None:
        done = RunResult(pipeline="payments", outcome="committed", run_id="r", commits=("20260801101500000",))
        listen(Committed(pipeline="payments", message="committed", result=done.as_json()))  # type: ignore[operator]
        raise KeyboardInterrupt

    monkeypatch.setattr("freshet.cli.run.run_project", interrupted)
    result = freshet("run", "--all", "--output", "json")
    (error,) = json.loads(result.stdout).values()
    assert (result.exit_code, error["details"]["published"]) == (130, [{"pipeline": "payments", "commit": "20260801101500000"}])
    assert "payments (20260801101500000)" in result.stderr


def test_every_value_has_a_form_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has no NaN, no infinity and no bytes: they are texts, in results and in errors, however deep they stand."""
    nan, most = float("nan"), float("inf")
    values = {"a": nan, "b": [most, (-most, {"c": nan})], "d": 1.5, "e": b"\x00\xff", "f": bytearray(b"a"), "h": None}
    output = Output(as_json=True)
    output.result("", {"rows": [values]})
    printed = capsys.readouterr().out
    Output(as_json=True).error(FreshetError("BAD", "it is", details_of=values))
    for text, found in (
        (printed, lambda tree: tree["rows"][0]),
        (capsys.readouterr().out, lambda tree: tree["error"]["details"]["details_of"]),
    ):
        tree = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert found(tree) == {
            "a": "NaN",
            "b": ["Infinity", ["-Infinity", {"c": "NaN"}]],
            "d": 1.5,
            "e": "00ff",
            "f": "61",
            "h": None,
        }
