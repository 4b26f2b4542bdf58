"""Tell people over webhooks what is wrong with a pipeline, and that it is right again: as Slack takes it, and as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from freshet.metrics.http import host_of, send
from freshet.metrics.measured import Measured
from freshet.metrics.troubles import News, news_of
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.model.promises import MetricsOut
from freshet.secrets import redact_tree
from freshet.storage.files import local_path, storage_for

VERSION = 1
_JSON = {"Content-Type": "application/json"}
_OF_SLACK = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def message_of(found: Measured, env: str, news: News) -> dict[str, Any]:
    """Return what a webhook is told, JSON-serialisable.

    Args:
        found: What was measured.
        env: The environment's name.
        news: What there is to tell.
    """
    message: dict[str, Any] = {
        "version": VERSION,
        "env": env,
        "pipeline": found.spec.name,
        "owner": found.spec.owner,
        "status": "recovered" if news.is_well else "trouble",
        "troubles": [vars(one) for one in news.troubles],
        "recovered": list(news.recovered),
        "time": round(found.now, 3),
        "next": f"freshet status {found.spec.name} --env {env}",
    }
    return {**redact_tree(message), "time": message["time"]}


def slack_of(message: Mapping[str, Any]) -> dict[str, str]:
    """Return a message in the form of Slack's incoming webhooks."""
    well = message["status"] == "recovered"
    owner = f", {message['owner']}" if message["owner"] else ""
    head = f"{':white_check_mark:' if well else ':red_circle:'} *{message['pipeline']}* ({message['env']}{owner})"
    lines = [one["message"] for one in message["troubles"]] + [f"recovered: {one}" for one in message["recovered"]]
    text = "\n".join(f"• {line}".translate(_OF_SLACK) for line in lines)
    return {"text": f"{head}\n{text}" + ("" if well else f"\n`{message['next']}`")}


@dataclass(frozen=True)
class Notifier:
    """Somebody who is told.

    Args:
        kind: ``slack`` or ``webhook``: by it what was told is kept.
        name: What people call it, without a secret.
        tell: Tells a message; raises an OSError where it was not taken.
    """

    kind: str
    name: str
    tell: Callable[[Mapping[str, Any]], None]


def notifiers_of(out: MetricsOut) -> tuple[Notifier, ...]:
    """Return who is told.

    Args:
        out: What the environment declares.
    """

    def posting(url: str, form: Callable[[Mapping[str, Any]], object]) -> Callable[[Mapping[str, Any]], None]:
        return lambda message: send(url, "POST", json.dumps(form(message)).encode(), _JSON, float(out.timeout_seconds))

    slack = Notifier("slack", f"the Slack webhook at {host_of(out.slack)}", posting(out.slack, slack_of))
    webhook = Notifier("webhook", f"the webhook at {host_of(out.webhook)}", posting(out.webhook, dict))
    return tuple(one for one, url in ((slack, out.slack), (webhook, out.webhook)) if url)


def notify(found: Measured, env: str, notifier: Notifier) -> None:
    """Tell somebody what there is to tell of a pipeline, and keep that it was told.

    Args:
        found: What was measured.
        env: The environment's name.
        notifier: Who is told; what others were told does not count.

    Raises:
        OSError: It was not taken, or cannot be kept; then it is told again the next time.
    """
    news = news_of(found, told_before(found.spec, notifier.kind), found.spec.metrics.repeat_seconds)
    if news.is_any:
        notifier.tell(message_of(found, env, news))
        keep_told(found.spec, notifier.kind, news.told)


def told_before(spec: PipelineSpec, kind: str) -> dict[str, Any]:
    """Return what a kind of notifier was told of a pipeline; nothing where that is no record of it.

    Args:
        spec: The pipeline.
        kind: Who was told.

    Raises:
        OSError: The store does not answer.
    """
    try:
        told = json.loads(storage_for(spec.target.ref.path).read(_file(spec, kind)))["told"]
        return {key: {"at": float(one["at"]), "message": str(one["message"])} for key, one in told.items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def keep_told(spec: PipelineSpec, kind: str, told: Mapping[str, Any]) -> None:
    """Keep what a kind of notifier was told of a pipeline, beside its target.

    Args:
        spec: The pipeline.
        kind: Who was told.
        told: See ``news_of``.
    """
    data = json.dumps({"version": VERSION, "told": told}, sort_keys=True).encode()
    storage_for(spec.target.ref.path).put(_file(spec, kind), data)


def _file(spec: PipelineSpec, kind: str) -> str:
    parent, _, name = local_path(spec.target.ref.path).rstrip("/").rpartition("/")
    return f"{parent}/.freshet/{name}.told/{spec.name}.{kind}.json"
