"""The token of ``freshet serve``: what its writing calls must carry, and so what who makes one is given, too."""

from __future__ import annotations

import os
from pathlib import Path

from freshet.errors import FreshetError
from freshet.secrets import REDACTOR

TOKEN = "FRESHET_SERVE_TOKEN"


def read_token(file: Path | None) -> str:
    """Return the token that writing calls must carry; empty for none. It is no part of the environment any longer.

    Args:
        file: Holds it; None to take it from the environment.

    Raises:
        FreshetError: SERVE_TOKEN_UNREADABLE.
    """
    token, named = os.environ.pop(TOKEN, ""), TOKEN
    if file is not None:
        named = str(file)
        try:
            token = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or "it is no text"
            raise _bad_token(f"{named} cannot be read: {said}") from error
    if (file is not None or token) and not (token.isascii() and token.isprintable() and token and " " not in token):
        raise _bad_token(f"{named} holds no token: some signs of ASCII without blanks")
    if token:
        REDACTOR.register(TOKEN, token)
    return token


def _bad_token(said: str) -> FreshetError:
    return FreshetError(
        "SERVE_TOKEN_UNREADABLE",
        f"{said}.",
        "Nothing was read or written.",
        "Write one, such as by: openssl rand -hex 32",
    )
