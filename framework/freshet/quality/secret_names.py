"""Columns that a Python step names after a secret: the table's schema and its commits would keep the name as it is.

What a SQL names is looked at when the files are loaded; what a Python step names is known once it has run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from freshet.errors import DataError
from freshet.project.rules.helpers import FOLDER
from freshet.secrets import Redactor

_WORD = re.compile(r"[^\W_]+")


def refuse_secret_names(
    pipeline: str,
    names: Iterable[str],
    seen: Collection[str],
    texts: Callable[[], Iterable[str]],
    secrets: Redactor,
) -> None:
    """Refuse names that hold a secret.

    Args:
        pipeline: The pipeline's name.
        names: Names of columns that are new to the table, and of the fields in their types.
        seen: Names that stand in the tables which were read.
        texts: Gives the texts of the pipeline's files; asked only where a name is like a secret.
        secrets: The secrets that are known.

    Raises:
        DataError: SECRET_IN_NAME.
    """
    known = {name.lower() for name in seen}
    found = [name for name in names if name.lower() not in known and _holds(name, secrets)]
    if not found:
        return
    words = {word.lower() for text in texts() for word in _WORD.findall(text)}
    if any(_holds(_without_visible(name, words, secrets), secrets) for name in found):
        raise DataError(
            "SECRET_IN_NAME",
            f"{pipeline}: a column that a Python step makes has a secret in its name, which the table's commits would keep.",
            "Nothing was written: the table, its schema and the checkpoint stay.",
            "Name it by what may be seen: a variable that stands in configs/<env>.yml as it is, or a word of the step's own.",
        )


def names_in(kind: Any) -> Iterator[str]:
    """Yield the names of the fields in a type, at any depth.

    Args:
        kind: The type as Spark writes it in JSON.
    """
    if isinstance(kind, dict):
        for field in kind.get("fields", ()):
            yield str(field["name"])
        for value in kind.values():
            yield from names_in(value)
    elif isinstance(kind, list):
        for value in kind:
            yield from names_in(value)


def texts_of(root: str, files: Iterable[str]) -> Iterator[str]:
    """Yield the texts of a pipeline's steps as they stand in their files, and of the modules that these may import.

    Args:
        root: The project's root.
        files: The steps, relative to it.
    """
    helpers = Path(root, *FOLDER.split("/")).rglob("*.py")
    for place in (*(Path(root, file) for file in files), *helpers):
        yield place.read_text("utf-8", errors="replace")


def _without_visible(name: str, words: Collection[str], secrets: Redactor) -> str:
    """Return a name without the words of the files: that they hold what is a secret elsewhere is chance."""

    def shown(match: re.Match[str]) -> str:
        word = match.group()
        return "" if word.lower() in words and _holds(word, secrets) else word

    return _WORD.sub(shown, name)


def _holds(text: str, secrets: Redactor) -> bool:
    return secrets.hidden(text) != text
