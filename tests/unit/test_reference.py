"""docs/reference is what ``python -m tests.reference`` makes of the commands, the models and the registry of error codes."""

from __future__ import annotations

import re
from functools import cache

import click
import pytest

from freshet.cases.shape import Expect, FixtureCase, FixtureFile, FixtureTable
from freshet.cli.main import main
from freshet.landing.seeds import SeedFile
from freshet.project.shape.files import ConfigFile, PipelineFile
from tests.reference import FOLDER, pages
from tests.reference.errors import registry
from tests.reference.text import plain, table

NAMES = ("cli.md", "errors.md", "metrics.md", "streamer.md", "yaml.md")
made = cache(pages)


@pytest.mark.parametrize("name", NAMES)
def test_the_pages_are_what_the_code_makes(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == made()[name], "write them anew: python -m tests.reference"


def test_no_other_page_is_there() -> None:
    assert {one.name for one in FOLDER.iterdir()} == set(made()) == set(NAMES)


def test_every_code_stands_once_as_an_anchor_and_in_each_group() -> None:
    text = made()["errors.md"]
    for code in registry():
        assert text.count(f' id="{code.name.lower()}"') == 1, code.name
        assert text.count(f">{code.name}</code> |") == len(code.exits), code.name


def test_every_command_and_option_is_there() -> None:
    def walk(group: click.Group, path: tuple[str, ...]) -> None:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            found = re.search(rf"^#+ freshet {' '.join((*path, name))}\n(.*?)(?=^#|\Z)", made()["cli.md"], re.M | re.S)
            assert found, name
            for option in command.params:
                if isinstance(option, click.Option):
                    assert any(re.search(rf"[`>]{one}\b|, {one}\b", found[1]) for one in option.opts), (name, option.opts)
            if isinstance(command, click.Group):
                walk(command, (*path, name))

    walk(main, ())


def test_every_key_is_there() -> None:
    text = made()["yaml.md"]
    for model in (PipelineFile, ConfigFile, FixtureFile, FixtureTable, FixtureCase, Expect, SeedFile):
        for name, field in model.model_fields.items():
            assert f"| `{field.alias or name}` |" in text, (model.__name__, name)
    assert "| `hoodie.compact.inline` | true or false | `false` |" in text


def test_words_are_no_markup() -> None:
    """What a description says reaches the reader: markup in it would hide it. The kind: tags, emphasis, bars of a table."""
    assert plain("<SRC> and _a b_ of a_b, `<x_>`, *") == "&lt;SRC> and \\_a b\\_ of a_b, `<x_>`, \\*"
    assert table(("a",), [("x|y, `a|<b>`, `c`",)]).splitlines()[-1] == "| x&#124;y, <code>a&#124;&lt;b&gt;</code>, `c` |"
