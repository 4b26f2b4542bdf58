"""The ways out of lineage: a file of JSON lines, and a server that takes OpenLineage events over HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from freshet.metrics.http import host_of, send
from freshet.project.model.promises import LineageOut

#: Takes an event; raises an OSError with what keeps it from that.
Way = Callable[[Mapping[str, Any]], None]


def ways_of(out: LineageOut) -> tuple[Way, ...]:
    """Return the ways of an environment.

    Args:
        out: What the environment declares.
    """
    to_file: tuple[Way, ...] = (partial(_append, out.file),) if out.file else ()
    to_url: tuple[Way, ...] = (partial(_post, out),) if out.url else ()
    return (*to_file, *to_url)


def _append(file: str, event: Mapping[str, Any]) -> None:
    line = f"{json.dumps(event, sort_keys=True)}\n".encode()
    try:
        # In one piece: other processes append to the same file.
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            while line:
                line = line[os.write(descriptor, line) :]
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(f"{file} cannot be written: {error.strerror or error}") from error


def _post(out: LineageOut, event: Mapping[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    if out.api_key:
        headers["Authorization"] = f"Bearer {out.api_key}"
    try:
        body = json.dumps(event).encode()
        send(f"{out.url.rstrip('/')}/{out.endpoint}", "POST", body, headers, float(out.timeout_seconds))
    except OSError as error:
        inner = getattr(error, "reason", None)
        raise OSError(f"the server at {host_of(out.url)} did not take them: {inner or error}") from error
