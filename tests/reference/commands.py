"""The page of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator

import click

from freshet.cli.main import main
from tests.reference.text import MADE, plain, table

# An option is common that so many commands have in the same words.
_MANY = 10
_VERBATIM = "\b\n"
_INTRO = """# Command line

All commands, their arguments and options, as `--help` prints them. [Commands](../commands.md) says what they have in common:
exit codes, progress, JSON.
"""
Path = tuple[str, ...]
Row = tuple[str, str]
Command = tuple[Path, click.Command, click.Context]


def _commands(group: click.Group, context: click.Context, path: Path = ()) -> Iterator[Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, info_name=name, parent=context, **command.context_settings)
        yield (*path, name), command, below
        if isinstance(command, click.Group):
            yield from _commands(command, below, (*path, name))


def _options(command: click.Command, context: click.Context) -> list[Row]:
    found = (one.get_help_record(context) for one in command.get_params(context) if isinstance(one, click.Option))
    return [(names, re.sub(r"\s+", " ", words)) for names, words in filter(None, found)]


def _prose(text: str) -> str:
    # Other options stand in the words without a mark of their own.
    return plain(re.sub(r"(?<![\w`-])(--[a-z][a-z-]*[a-z])", r"`\1`", text))


def _row(option: Row) -> Row:
    return f"`{option[0]}`", _prose(option[1])


def _texts(help_text: str) -> Iterator[str]:
    """Yield the paragraphs of a command's help, its examples as a block of shell."""
    for part in inspect.cleandoc(help_text).split("\n\n"):
        title, *lines = part.removeprefix(_VERBATIM).splitlines()
        if not part.startswith(_VERBATIM) or not lines[0].startswith(" "):
            yield _prose(" ".join((title, *(line.strip() for line in lines))))
        elif title.startswith("Example"):
            # What stands after a gap explains the command.
            shell = (re.sub(r"^(\S.*?\S)(\s{2,})(\S.*)$", r"\1\2# \3", line.strip()) for line in lines)
            yield "```bash\n" + "\n".join(shell) + "\n```"
        else:
            yield f"{plain(title)}\n\n```text\n" + "\n".join(line.strip() for line in lines) + "\n```"


def _section(path: Path, command: click.Command, context: click.Context, common: set[Row]) -> Iterator[str]:
    yield f"{'#' * max(2, len(path) + 1)} {' '.join(('freshet', *path))}\n"
    texts = list(_texts(command.help or ""))
    yield texts[0] + "\n"
    yield f"```text\n{' '.join(('freshet', *path, *command.collect_usage_pieces(context)))}\n```\n"
    yield from (text + "\n" for text in texts[1:])
    options = _options(command, context)
    own = [_row(one) for one in options if one not in common]
    if own:
        yield table(("option", "what it does"), own) + "\n"
    shared = [f"`{one[0].split(' ')[0].rstrip(',')}`" for one in options if one in common]
    if shared != ["`-h`"]:
        yield f"[Common options](#common-options): {', '.join(shared)}.\n"


def cli_page() -> str:
    """Return the page of the command line."""
    top = click.Context(main, info_name="freshet", **main.context_settings)
    found = [((), main, top), *_commands(main, top)]
    said = Counter(option for _, command, context in found for option in _options(command, context))
    common = [option for option, times in said.items() if times >= _MANY]
    parts = [MADE, _INTRO, "## Common options\n", table(("option", "what it does"), map(_row, common)) + "\n"]
    for path, command, context in found:
        parts += _section(path, command, context, set(common))
    return "\n".join(parts)
