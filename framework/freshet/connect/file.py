"""The file of a connector: its config as Connect's REST interface takes it, alone or with the connector's name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freshet.connect.wrong import Wrong
from freshet.errors import Problem, SpecError


@dataclass(frozen=True, kw_only=True)
class ConnectorFile:
    """A connector's file.

    Args:
        path: Where it is, as the user would open it.
        name: The connector's name: the file says it, or is called so.
        config: Texts by setting.
        text: The whole file.
    """

    path: str
    name: str
    config: Mapping[str, str]
    text: str

    def problem(self, wrong: Wrong) -> Problem:
        """Return what is wrong with a setting as a problem with its line; 0 where the setting is not in the file."""
        quoted = json.dumps(wrong.key)
        line = next((at for at, one in enumerate(self.text.splitlines(), 1) if quoted in one.partition(":")[0]), 0)
        return Problem(file=self.path, line=line, code=wrong.code, message=wrong.said, hint=wrong.write)


def read_connector(path: Path) -> ConnectorFile:
    """Read a connector's file.

    Args:
        path: The file.

    Raises:
        SpecError: CONNECTOR_FILE.
    """
    try:
        text = path.read_text("utf-8")
        found = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise _unread(path, f"It is no JSON: {error.msg}.", error.lineno) from error
    except (OSError, ValueError) as error:
        raise _unread(path, f"It cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    inner = found.get("config") if isinstance(found, dict) else None
    config = inner if isinstance(inner, dict) else found
    if not isinstance(config, dict) or not config:
        raise _unread(path, "It has no object of settings.")
    odd = [key for key, value in config.items() if not isinstance(value, str | bool | int | float)]
    if odd:
        raise _unread(path, f"{odd[0][:80]!r} is neither a text nor a number.")
    named = found.get("name")
    return ConnectorFile(
        path=str(path),
        name=named if isinstance(named, str) and named else path.stem,
        # As Connect takes what is no text.
        config={key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items() if key != "name"},
        text=text,
    )


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    twice = [key for at, key in enumerate(keys) if key in keys[:at]]
    if twice:
        raise ValueError(f"{twice[0][:80]!r} stands twice")
    return dict(pairs)


def _unread(path: Path, why: str, line: int = 0) -> SpecError:
    hint = 'Write {"connector.class": "io.debezium...", ...}, as PUT /connectors/NAME/config takes it.'
    return SpecError([Problem(file=str(path), line=line, code="CONNECTOR_FILE", message=why, hint=hint)])
