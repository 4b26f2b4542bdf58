"""Texts that hold a secret, as a table keeps them: what is shown of one, and a digest that tells whether another is the same.

Equal digests mean the same text. Of a secret that was drawn at random a digest tells nothing; one that is short enough to be
guessed costs whoever can read the table ``_ROUNDS`` rounds of SHA-256 a guess, and, since what is shown is the salt, no guess
serves for another path.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import takewhile

from freshet.credentials import bare_path, without_credentials
from freshet.project.model.paths import same_place

#: What stands for a text that nobody knows the secrets of.
NOT_SHOWN = "..."
# About 1 ms, which an idle run pays for each path that holds a secret: 100 pipelines below a root out of `env` pay 0.2 s.
# Digests that were kept were made with it.
_ROUNDS = 1_000
_SECRET = re.compile(r"\$\{env\.[^}]*\}")
_TELLING = 4


@lru_cache(maxsize=256)
def digest_of(path: str, shown: str) -> str:
    """Return the digest of a path that holds a secret, 32 hexadecimal digits.

    Args:
        path: The path; Hadoop's names of one place give one digest.
        shown: What is kept of it in words.
    """
    text, salt = (part.encode("utf-8", "surrogatepass") for part in (same_place(path), shown))
    return hashlib.pbkdf2_hmac("sha256", text, salt, _ROUNDS, 16).hex()


def beside(text: str, shown: str) -> str:
    """Return what may be shown of a path that was kept in clear, where the path in its place holds a secret by now.

    Args:
        text: The path; it may hold a secret that nobody knows any more.
        shown: What is shown of the other one.

    Returns:
        The folders that both begin and end with, and dots for the others.
    """
    theirs, ours = text.split("/"), shown.split("/")
    begin = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(theirs, ours, strict=False)))
    theirs, ours = theirs[begin:], ours[begin:]
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(theirs), reversed(ours), strict=False)))
    return "/".join([*text.split("/")[:begin], NOT_SHOWN, *theirs[len(theirs) - end :]])


def kept_path(path: str, hidden: Mapping[str, str]) -> str:
    """Return what may be kept of a path: itself, or what is shown of it and a digest.

    Args:
        path: The path.
        hidden: What is shown of paths that hold a secret, by the path.
    """
    shown = hidden.get(path)
    return f"{shown} {digest_of(path, shown)}" if shown else path


def is_kept(text: str, path: str) -> bool:
    """Say whether what was kept by ``kept_path``, or in clear by earlier versions, is a path."""
    shown, _, digest = text.rpartition(" ")
    return text == path or (bool(shown) and digest == digest_of(path, shown))


def shown_of(text: str, path: str, hidden: Mapping[str, str]) -> str:
    """Return in words what was kept of a path that is another than the one in its place."""
    shown, _, digest = text.rpartition(" ")
    if shown and re.fullmatch("[0-9a-f]{32}", digest):
        return shown
    return beside(text, hidden[path]) if path in hidden else bare_path(text)


def without_older(text: str, hidden: Mapping[str, str]) -> str:
    """Return a text that was kept earlier without what stands in the place of a secret: it may be the one of before.

    Args:
        text: A text that may name one of the pipeline's paths.
        hidden: What is shown of paths that hold a secret, by the path.
    """
    for shown in sorted(set(hidden.values()), key=len, reverse=True):
        parts = _SECRET.split(shown)
        # By a path that is hardly more than the secret, everything would be one.
        if len(parts) > 1 and len(parts[0]) >= _TELLING:
            pattern = r"(?!\$\{env\.|\.\.\.)[^\s'\"]{1,999}?".join(map(re.escape, parts))
            # A path that ends in a secret ends where a word does.
            end = "" if parts[-1] else r"(?![^\s'\"])"
            text = re.sub(f"{pattern}{end}", NOT_SHOWN.join(parts).replace("\\", r"\\"), text)
    return text


def without_paths(text: str) -> str:
    """Return the begin of a kept JSON text that cannot be read, without paths and credentials: nobody knows what they hold."""
    return without_credentials(re.sub(r'[^"]*/[^"]*', NOT_SHOWN, text[:2000]))
