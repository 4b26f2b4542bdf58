"""Where a schema registry is, and under which subject it has a topic's schemas. Nothing is asked, nothing heavy imported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote, urlsplit, urlunsplit

from freshet.errors import StateError
from freshet.secrets import REDACTOR

Strategy = Literal["topic", "record", "topic_record"]


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a registry is, and how one gets in.

    Args:
        urls: Its servers; the next one is asked where one cannot be reached.
        user, password: For basic authentication; empty where none is asked for.
        timeout_seconds: How long one question may take, at all servers together.
    """

    urls: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    timeout_seconds: float = 10.0


def address_of(text: str, credentials: str = "", timeout_seconds: float = 10.0) -> Address:
    """Return where a registry is.

    Args:
        text: As ``schema.registry.url`` has it: URLs with commas between. One may name ``user:password`` in front of its host.
        credentials: As ``basic.auth.user.info`` has them: ``user:password``; they count instead of the URL's.
        timeout_seconds: As ``Address`` has it.

    Raises:
        StateError: REGISTRY_ADDRESS.
    """
    urls, inside = [], ""
    for part in filter(None, (one.strip() for one in text.split(","))):
        try:
            found = urlsplit(part)
            host, port = found.hostname, found.port
        except ValueError:
            host, port, found = None, None, urlsplit("")
        if found.scheme not in ("http", "https") or not host or found.query or found.fragment:
            raise _no_address("a registry's address is http(s)://host:port, without a question mark")
        inside = inside or found.netloc.rpartition("@")[0]
        shown = f"[{host}]" if ":" in host else host
        urls.append(urlunsplit((found.scheme, f"{shown}:{port}" if port else shown, found.path.rstrip("/"), "", "")))
    if not urls:
        raise _no_address("no registry is named")
    user, _, password = (credentials or ":".join(map(unquote, inside.split(":", 1)))).partition(":")
    if password:
        REDACTOR.register("registry_password", password)
    return Address(urls=tuple(urls), user=user, password=password, timeout_seconds=timeout_seconds)


def subject_of(strategy: Strategy, topic: str, part: Literal["key", "value"], record: str = "") -> str:
    """Return the subject under which a topic's schemas are registered.

    Args:
        strategy: ``topic`` (TopicNameStrategy), ``record`` (RecordNameStrategy) or ``topic_record`` (TopicRecordNameStrategy).
        topic: The topic.
        part: Whether keys or values.
        record: Full name of the record, for the strategies that have it in the subject.

    Raises:
        ValueError: When the strategy needs a record's name.
    """
    if strategy == "topic":
        return f"{topic}-{part}"
    if not record:
        raise ValueError("the subject's strategy needs the full name of the record")
    return record if strategy == "record" else f"{topic}-{record}"


def _no_address(why: str) -> StateError:
    return StateError("REGISTRY_ADDRESS", f"{why}.", "Nothing was read or written.", "Write it as http://host:8081.")
