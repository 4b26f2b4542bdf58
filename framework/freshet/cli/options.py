"""Options that several commands share, and how they become a loaded project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial, reduce, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from pydantic import ByteSize, TypeAdapter, ValidationError

from freshet.project.load.project import load_project
from freshet.project.model.pipeline import Project

_SIZE = re.compile(r"[0-9]*[.]?[0-9]+ ?[A-Za-z]*")
Command = TypeVar("Command", bound=Callable[..., Any])

_PROJECT = (
    click.option(
        "--project",
        "-C",
        "root",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(),
        help="The project's folder.  [default: here]",
    ),
    click.option("--env", default=None, envvar="FRESHET_ENV", help="Environment: configs/<env>.yml.  [default: local]"),
    click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override a setting, such as vars.raw_root=/data/raw or hoodie.index.type=BUCKET; repeatable.",
    ),
)
_SELECTION = (
    click.argument("names", nargs=-1),
    click.option("--tag", "tags", multiple=True, help="Every pipeline with this tag; repeatable."),
    click.option("--all", "everything", is_flag=True, help="Every pipeline."),
)


def _apply(options: tuple[Callable[..., Any], ...], command: Command) -> Command:
    return reduce(lambda inner, option: option(inner), reversed(options), command)


project_options: Callable[[Command], Command] = partial(_apply, _PROJECT)
selection_options: Callable[[Command], Command] = partial(_apply, _SELECTION)


full_refresh_option = click.option(
    "--full-refresh", is_flag=True, help="Compute the target anew from the whole source, and replace every row that stands."
)


def wait_option(command: Command) -> Command:
    """Add ``--wait``, which stands before the project's own ``lease.wait_seconds``."""

    @click.option(
        "--wait",
        "wait_seconds",
        type=click.FloatRange(min=0),
        default=None,
        metavar="SECONDS",
        help="How long to wait for another run of the same target.  [default: lease.wait_seconds, or 0]",
    )
    @wraps(command)
    def waiting(*, wait_seconds: float | None, overrides: tuple[str, ...], **arguments: Any) -> None:
        own = () if wait_seconds is None else (f"lease.wait_seconds={wait_seconds:g}",)
        command(overrides=(*overrides, *own), **arguments)

    return cast("Command", waiting)


def load(
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
    names: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    everything: bool = False,
    required: bool = False,
    instead: Mapping[str, str] | None = None,
) -> Project:
    """Load the project and select pipelines.

    Args:
        root: The project's folder.
        env: Environment's name; None for the default.
        overrides: ``--set`` values.
        names, tags, everything: The selection; none of them means every pipeline.
        required: Refuse to guess: a command that writes is told what to run.
        instead: Texts that are read instead of those of the files, by the files' names.

    Raises:
        click.UsageError: Nothing was selected where that is required.
        SpecError: The project's files are wrong.
    """
    if everything and (names or tags):
        raise click.UsageError("--all goes with neither names nor --tag.")
    if required and not (names or tags or everything):
        raise click.UsageError("Say which pipelines: names, --tag TAG or --all.")
    return load_project(root, env, overrides, names=names, tags=tags, environ=os.environ, instead=instead)


def size_of(text: str) -> ByteSize:
    """Return a size such as 500MB or 2GB in bytes.

    Raises:
        click.BadParameter: It is none.
    """
    try:
        # Whatever comes after a size Pydantic overlooks.
        return TypeAdapter(ByteSize).validate_python(text if _SIZE.fullmatch(text) else "")
    except ValidationError as error:
        said = f"{text!r} is not a size: write one such as 500MB or 2GB."
        raise click.BadParameter(said, param_hint="--partition-size") from error
