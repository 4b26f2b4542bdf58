"""The ``Dockerfile``, as far as it can be held without Docker: nobody builds it here.

The kind: a file that is copied and gone, a command that the image runs and freshet has no longer, a file of the wheel that
is not copied, another Python than the package asks for, a user who is root.
"""

from __future__ import annotations

import configparser
import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from freshet.cli.main import main

ROOT = Path(__file__).parents[2]
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
_KNOWN = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"}
_IMAGE = re.compile(r"python:(3\.\d+)-slim( AS \w+)?")


def _instructions() -> list[tuple[str, str]]:
    """Return the file's instructions, each with what follows it on its lines."""
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    pairs = [line.partition(" ") for line in whole.splitlines() if line.strip()]
    return [(name, rest.strip()) for name, _, rest in pairs]


INSTRUCTIONS = _instructions()


def _commands() -> Iterator[list[str]]:
    for name, text in INSTRUCTIONS:
        if name == "RUN":
            options = re.match(r"(?:--\S+\s+)*", text)
            yield from (shlex.split(part) for part in text[options.end() if options else 0 :].split("&&"))


def test_instructions_are_known_and_begin_with_an_image() -> None:
    assert {name for name, _ in INSTRUCTIONS} == _KNOWN
    assert INSTRUCTIONS[0][0] == "FROM"
    images = [text for name, text in INSTRUCTIONS if name == "FROM"]
    found = [_IMAGE.fullmatch(text) for text in images]
    assert all(found), "by its plain name and tag: no registry's host, no digest"
    declared = re.findall(r":: Python :: (3\.\d+)", SETUP["metadata"]["classifiers"])
    assert {one[1] for one in found if one} == {declared[-1]}


def test_what_is_copied_is_there_and_is_all_that_the_wheel_is_made_of() -> None:
    copied = [source for name, text in INSTRUCTIONS if name == "COPY" for source in text.split()[:-1]]
    assert [one for one in copied if not (ROOT / one).exists()] == []
    package = SETUP["options"]["package_dir"].partition("=")[2].strip()
    named = {SETUP["metadata"]["long_description"].removeprefix("file:").strip(), SETUP["metadata"]["license_files"]}
    assert {package, "setup.cfg", "pyproject.toml", *named} <= set(copied)


def test_another_stage_is_named_before_it_is_used() -> None:
    stages: list[str] = []
    for name, text in INSTRUCTIONS:
        assert set(re.findall(r"\bfrom=(\w+)", text)) <= set(stages), text
        stages += re.findall(r" AS (\w+)$", text) if name == "FROM" else []
    assert stages == ["wheels"]


def test_the_commands_exist() -> None:
    freshet = [words for words in _commands() if words[0] == "freshet"]
    modules = [words[2] for words in _commands() if words[:2] == ["python", "-m"]]
    assert [words[1:] for words in freshet] == [["jars", "fetch"]]
    for words in freshet:
        command: click.Command = main
        context = click.Context(main, **main.context_settings)
        for word in words[1:]:
            assert isinstance(command, click.Group)
            found = command.get_command(context, word)
            assert found is not None, words
            command = found
    assert modules == ["freshet.jvm.class_data"]
    for module in modules:
        spec = importlib.util.find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        assert 'if __name__ == "__main__"' in Path(spec.origin).read_text("utf-8")


def test_the_lock_file_pins_the_build_backend() -> None:
    """The image builds with the setuptools of the lock file, which must be the one that pyproject.toml asks for."""
    wanted = re.search(r'requires = \["(setuptools==[\d.]+)"\]', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert wanted is not None
    assert f"\n{wanted[1]} " in (ROOT / "requirements.lock").read_text("utf-8")


@pytest.mark.parametrize("name", ["ENTRYPOINT", "CMD"])
def test_it_starts_freshet_without_a_shell(name: str) -> None:
    texts = [text for found, text in INSTRUCTIONS if found == name]
    assert [json.loads(text) for text in texts] == [{"ENTRYPOINT": ["freshet"], "CMD": ["--help"]}[name]]


def test_the_user_is_not_root_and_owns_the_jars() -> None:
    names = [name for name, _ in INSTRUCTIONS]
    users = [text for name, text in INSTRUCTIONS if name == "USER"]
    assert users == ["freshet"]
    assert f"useradd --create-home --uid 1000 {users[0]} " in " ".join(text for name, text in INSTRUCTIONS if name == "RUN")
    fetched = next(at for at, (_, text) in enumerate(INSTRUCTIONS) if text == "freshet jars fetch")
    assert names.index("USER") < fetched, "who fetches the jars may write to their cache"
    assert names.index("ENTRYPOINT") > fetched
