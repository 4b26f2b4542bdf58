"""Remember what was worked out from texts, as JSON in the cache; losing it costs the work again, and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from freshet.cache import cache_dir
from freshet.secrets import REDACTOR

_BEGUN = time.time()
# What is still used after that is worked out once more.
_KEPT_SECONDS = 30 * 86_400
# One in 256 of what is kept looks for what is too old.
_LOOKS_AROUND = "00"


def recall(kind: str, key: str) -> Any:
    """Return what was remembered under a key, or None.

    Args:
        kind: Name of its folder in the cache.
        key: All that it was worked out from, as a text.
    """
    try:
        told, _, text = _path(kind, key).read_text("utf-8").partition("\n")
        # A damaged file must not be taken for another answer.
        return json.loads(text) if told == _digest(text) else None
    except (OSError, RuntimeError, ValueError, RecursionError):
        return None


def remember(kind: str, key: str, content: Any) -> None:
    """Remember what was worked out; a folder that cannot be written is no error, and no secret is kept.

    Args:
        kind: Name of its folder in the cache.
        key: All that it was worked out from, as a text.
        content: JSON-able.
    """
    text = json.dumps(content, ensure_ascii=False)
    if REDACTOR.origin(text):
        return
    try:
        path = _path(kind, key)
        own = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(f"{_digest(text)}\n{text}", "utf-8")
        own.replace(path)
        if path.name.startswith(_LOOKS_AROUND):
            _forget_old(path.parent)
    except (OSError, RuntimeError, ValueError):
        return


def recall_by_code(kind: str, about: str) -> Any:
    """Return what this very code remembered of something, or None.

    Args:
        kind: Name of its folder in the cache.
        about: What it was worked out from beside the code, as a text.
    """
    code = _code_at_first()
    return recall(kind, f"{code}\0{about}") if code else None


def remember_by_code(kind: str, about: str, content: Any) -> None:
    """Remember what this code worked out, until a file of it or the parser of SQL changes.

    Args:
        kind: Name of its folder in the cache.
        about: What it was worked out from beside the code, as a text.
        content: JSON-able.
    """
    code = _code_at_first()
    # A process that outlives an upgrade must not speak for the code that lies there now.
    if code and code == _code():
        remember(kind, f"{code}\0{about}", content)


@cache
def _code_at_first() -> str:
    return _code()


def _code() -> str:
    try:
        parser = find_spec("sqlglot")
        told = sorted(_files(os.path.dirname(__file__)))
        if parser and parser.origin:
            told.append(_file(Path(parser.origin).with_name("_version.py")))
    except (OSError, ValueError, ImportError):
        return ""
    return "" if any(changed > _BEGUN for *_, changed in told) else _digest(repr(told))


def _files(folder: str) -> Iterator[tuple[str, int, int, float]]:
    with os.scandir(folder) as entries:
        for one in entries:
            if one.name.endswith(".py"):
                yield _file(one)
            elif "." not in one.name and one.name != "__pycache__" and one.is_dir():
                yield from _files(one.path)


def _file(one: os.DirEntry[str] | Path) -> tuple[str, int, int, float]:
    found = one.stat()
    return os.fspath(one), found.st_size, found.st_mtime_ns, found.st_ctime


def _path(kind: str, key: str) -> Path:
    return cache_dir() / kind / f"{_digest(key)[:32]}.json"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _forget_old(folder: Path) -> None:
    before = time.time() - _KEPT_SECONDS
    for file in os.scandir(folder):
        if file.stat().st_mtime < before:
            os.unlink(file.path)
