"""With ``--output json`` stdout holds one JSON document whatever happens, a wrong command line included."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.cli.output import Output
from freshet.cli.progress import progress
from freshet.errors import FreshetError
from freshet.events.kinds import Committed, Notice
from freshet.run.result import RunResult
from tests.kit.screen import Terminal
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

    def broken(*_: object) -> None:
        raise FreshetError("LATER", "something after the result")

    a_table(root, "raw/events", 10)
    (root / "data/raw/events/.hoodie/hoodie.properties").write_text("hoodie.table.version=6\n")
    monkeypatch.setattr(Output, "aside", broken)
    result = freshet("status", "--output", "json")
    assert (result.exit_code, list(json.loads(result.stdout))) == (1, ["pipelines"])
    assert "LATER" in result.stderr


@pytest.mark.parametrize("is_one_place", [True, False])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("nosuch",), "USAGE"),
        (("plan", "--bogus"), "USAGE"),
        (("run",), "USAGE"),
        (("plan", "nosuch"), "UNKNOWN_PIPELINE"),
        (("validate", "--set", "nonsense"), "INVALID_PROJECT"),
        (("land", "raw.x", "nosuch.csv"), "FILE_NOT_FOUND"),
        (("plan", "payments"), "SOURCE_MISSING"),
        (("status", "payments"), ""),
    ],
)
def test_words_stand_beside_the_document_only_where_it_is_read_alone(
    freshet: Freshet, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: str, is_one_place: bool
) -> None:
    """A wrong command line, name, file; an error within a result; words that follow a result.

    Of the same kind: what ends a command from outside, the notices of `land`, the outcomes of several runs, `jars verify`.
    """
    monkeypatch.setattr("freshet.cli.output.are_one_place", lambda *_: is_one_place)
    monkeypatch.setattr("freshet.cli.progress.are_one_place", lambda *_: is_one_place)
    result = freshet(*words, "--output", "json")
    assert code in json.dumps(json.loads(result.stdout))
    assert (result.stderr == "") == is_one_place


def test_a_terminal_shows_the_document_alone(root: Path) -> None:
    """As a person sees it, of a process of its own: an error, a wrong option; without the option words alone."""
    for words, code in ((("plan", "nosuch"), "UNKNOWN_PIPELINE"), (("plan", "--bogus"), "USAGE")):
        terminal = Terminal(200)
        command = (sys.executable, "-m", "freshet", *words, "-C", str(root))
        assert terminal.start(*command, "--output", "json", cwd=root).wait() == 2
        terminal.settle()
        assert json.loads("\n".join(terminal.shown()))["error"]["code"] == code


def test_notices_are_left_to_a_document_that_holds_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that fails holds none: stderr says them then."""
    monkeypatch.setattr("freshet.cli.output.are_one_place", lambda *_: True)
    for has_notices, fails, said in ((True, False, False), (True, True, True), (False, False, True)):
        output = Output(as_json=True)
        output.has_notices = has_notices
        with progress(output) as listen:
            listen(Notice(pipeline="raw.x", code="TEXT_COLUMN", message="TEXT_COLUMN: a note"))
        output.notice("SCHEMA_UNKNOWN: another")
        if fails:
            output.error(FreshetError("LATER", "it failed"))
        else:
            output.result("", {"notices": ["TEXT_COLUMN: a note"]})
        found = capsys.readouterr()
        assert ("a note" in found.err, "another" in found.err, "LATER" in found.err) == (said, fails, False)
        json.loads(found.out)


def test_a_signal_before_a_command_is_told_once(tmp_path: Path) -> None:
    """By what stands before all modules, where stdout and stderr are one file and where they are two."""
    program = (
        "import sys; sys.argv = ['freshet', 'plan', '--output', 'json']; from freshet.cli import early; early._answer(2, None)"
    )
    one = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert (one.returncode, json.loads(one.stdout)["error"]["code"]) == (130, "INTERRUPTED")
    two = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (json.loads(two.stdout)["error"]["code"], two.stderr[:12]) == ("INTERRUPTED", b"INTERRUPTED:")


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
