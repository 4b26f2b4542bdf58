"""What every command has in common: help with examples, ``--output``, errors in the words of both."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from freshet.cli.main import main
from tests.unit.cli.conftest import Freshet


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    found: list[tuple[tuple[str, ...], click.Command]] = [(path, group)]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += _commands(command, (*path, name)) if isinstance(command, click.Group) else [((*path, name), command)]
    return found


COMMANDS = _commands(main)
DEV_SERVERS = ("hbase", "kafka", "mariadb", "postgres", "registry")
NAMES = [" ".join(path) or "freshet" for path, _ in COMMANDS]


def test_all_the_commands_are_there() -> None:
    assert {path for path, command in COMMANDS if not isinstance(command, click.Group)} == {
        ("init",),
        ("validate",),
        ("serve",),
        ("ingest",),
        ("connector", "check"),
        ("test",),
        ("compile",),
        ("explain",),
        ("audit",),
        ("schema",),
        ("plan",),
        ("run",),
        ("backfill",),
        ("service",),
        ("status",),
        ("alerts",),
        ("account",),
        ("site",),
        ("history",),
        ("dag",),
        ("checkpoint", "show"),
        ("checkpoint", "set"),
        ("checkpoint", "reset"),
        ("checks",),
        ("quarantine", "show"),
        ("quarantine", "replay"),
        ("quarantine", "drop"),
        ("show",),
        ("land",),
        ("migrate",),
        ("preview",),
        ("audit",),
        *(("index", name) for name in ("bootstrap", "rebuild", "verify", "migrate", "benchmark")),
        *(("jars", name) for name in ("fetch", "path", "verify")),
        *(("dev", server, name) for server in DEV_SERVERS for name in ("up", "down", "status")),
    }


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=NAMES)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_holds_examples_and_ends_with_0(path: tuple[str, ...], command: click.Command, flag: str) -> None:
    result = CliRunner().invoke(main, [*path, flag])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Example" in result.stdout
    assert f"freshet {' '.join(path)}".strip() in result.stdout
    if not isinstance(command, click.Group):
        assert "--output [text|json" in result.stdout


def test_help_names_the_exit_codes() -> None:
    text = CliRunner().invoke(main, ["--help"]).stdout
    for code in ("0 done", "1 failed", "2 wrong command", "3 wrong files", "4 try again", "5 the tables", "6 the data", "130"):
        assert code in text


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).stdout.startswith("freshet, version ")


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "--nope", "payments"),
        ("walk",),
        ("checkpoint", "show"),
        ("checkpoint", "set", "payments"),
        ("checkpoint", "show", "payments", "--limit", "0"),
        ("run", "payments", "--wait", "-1"),
        ("plan", "--output", "xml"),
    ],
)
def test_wrong_command_line_ends_with_2_and_words_on_stderr(freshet: Freshet, words: tuple[str, ...]) -> None:
    result = freshet(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error:" in result.stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("rnu",), "run"),
        (("statsu",), "status"),
        (("index", "verfy"), "verify"),
        (("dev", "hbaes"), "hbase"),
    ],
)
def test_what_is_mistyped_gets_a_suggestion(freshet: Freshet, words: tuple[str, ...], meant: str) -> None:
    assert f"Did you mean '{meant}'?" in freshet(*words).stderr


@pytest.mark.parametrize("flag", [("--output", "json"), ("--output=json",)])
@pytest.mark.parametrize("words", [("run",), ("run", "--nope"), ("checkpoint", "show")])
def test_wrong_command_line_is_an_object_on_stdout_too(freshet: Freshet, words: tuple[str, ...], flag: tuple[str, ...]) -> None:
    result = freshet(*words, *flag)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "USAGE"


@pytest.mark.parametrize(
    "instant",
    [
        "yesterday",
        "2026080110150",
        "20261301101500",
        "202608011015001234",
        "\N{ARABIC-INDIC DIGIT TWO}" * 14,
    ],
)
def test_an_instant_is_a_time(freshet: Freshet, instant: str) -> None:
    result = freshet("checkpoint", "set", "payments", instant)
    assert result.exit_code == 2
    assert "yyyyMMddHHmmss" in result.stderr
