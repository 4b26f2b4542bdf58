"""Rules of topics of Kafka as the main source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import get_args

from freshet.hudi.keys import options
from freshet.hudi.keys.kafka_client import without_jvm
from freshet.hudi.keys.kafka_keys import ACTED_UPON, CLIENT_KEYS, GROUP, OFFSET_RESET, SECRET_KEYS, SERVERS
from freshet.problems import Problems
from freshet.project.model.kafka import DEFAULT_MAX_EVENTS, Format, KafkaSpec, Reset, place_of_topics
from freshet.project.model.pipeline import TableRef
from freshet.project.shape.source import NOT_SAID, Source
from freshet.project.syntax.ddl import Setting
from freshet.project.syntax.files import Place
from freshet.secrets import Redactor

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_OF_TABLES = (
    options.MAX_COMMITS,
    options.MISSING_CHECKPOINT,
    options.FULL_SCAN,
    options.INCREMENTAL_FORMAT,
)
Settings = Mapping[str, Setting]
PlaceOf = Callable[..., Place]


def reads_topics(settings: Settings, declared: Source | None) -> bool:
    """Say whether the main source is topics."""
    return options.KAFKA_TOPIC in settings or (declared is not None and bool(declared.topics or declared.pattern))


def read_topics(
    settings: Settings, declared: Source | None, place: PlaceOf, secrets: Redactor, problems: Problems
) -> KafkaSpec | None:
    """Read which topics are read, and how; the columns of their values are not known yet. None where a table is read, too.

    Args:
        settings: One value per key.
        declared: What stands under ``source:``.
        place: Gives the place of a path of keys.
        secrets: The secrets that the pipeline's files read.
        problems: Receives CONFLICTING_SETTING, MISSING_KEY, BAD_VALUE, NOT_SUPPORTED, SECRET_IN_NAME and SECRET_IN_FILE; values
            that do not fit are reported by the catalogues of keys.
    """
    declared = declared or NOT_SAID
    named = settings.get(options.KAFKA_TOPIC)
    table = settings.get(options.SOURCE_PATH)
    if table is not None:
        at = Place(named.file, named.line) if named else place("source")
        said = f"Topics are named here, and a Hudi table in {table.file}:{table.line}: a pipeline has one main source."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, f"Remove it, or '{options.SOURCE_PATH}'.")
        return None
    ways = [bool(named), bool(declared.topics), bool(declared.pattern)]
    if sum(ways) > 1:
        at = place("source")
        said = f"{options.KAFKA_TOPIC}, source.topics and source.pattern say each which topics are read."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, "Keep one of them.")
    topics = tuple(dict.fromkeys((named.value.strip(),) if named else declared.topics))
    at = Place(named.file, named.line) if named else place("source", "topics")
    for topic in topics:
        if not _NAME.fullmatch(topic):
            hint = "Write letters, digits, '.', '_' and '-'; several topics as source: {topics: [...]}."
            problems.add(at.file, at.line, "BAD_VALUE", f"'{topic[:80]}' cannot be the name of a topic.", hint)
    for text in (*topics, declared.pattern or ""):
        if secrets.hidden(text) != text:
            said = "The name of a topic holds a secret, which the table's commits would keep."
            hint = "Write what may be seen as it is: what is read by env.* counts as a secret."
            problems.add(at.file, at.line, "SECRET_IN_NAME", said, hint)
    _check_pattern(declared.pattern, place("source", "pattern"), problems)
    for key in _OF_TABLES:
        if key in settings and not settings[key].file.startswith("configs/"):
            said = f"'{key}' is of Hudi tables, and topics are read."
            problems.add(settings[key].file, settings[key].line, "CONFLICTING_SETTING", said, "Remove one of them.")
    if SERVERS not in settings:
        at = place("hoodie")
        hint = f"Write '{SERVERS}: <host:port>' under 'hoodie:', in configs/<env>.yml; 'freshet dev kafka up' starts one here."
        problems.add(at.file, at.line, "MISSING_KEY", "Topics are read, and nothing names the cluster.", hint)
    client = {key: settings[key].value for key in CLIENT_KEYS if key in settings and key not in ACTED_UPON}
    _check_client(client, settings, secrets, problems)
    kind = declared.format
    if kind in ("csv", "parquet", "orc"):
        at = place("source", "format")
        said = f"source.format: {kind} is what files are, and topics are read."
        problems.add(at.file, at.line, "NOT_SUPPORTED", said, "Write json, json_schema, avro, text or bytes.")
    shown = place_of_topics(topics, declared.pattern or "")
    return KafkaSpec(
        table=TableRef(shown, shown),
        max_commits=options.DEFAULT_MAX_COMMITS,
        missing_checkpoint="ERROR",
        full_scan_when_expired=False,
        incremental_format="auto",
        topics=topics,
        pattern=declared.pattern or "",
        client={**client, SERVERS: client.get(SERVERS, "")},
        max_events=_number(settings.get(options.KAFKA_MAX_EVENTS), DEFAULT_MAX_EVENTS),
        reset=_reset(settings.get(OFFSET_RESET)),
        group=_group(settings),
        fail_on_data_loss=_flag(settings.get(options.KAFKA_FAIL_ON_LOSS), True),
        min_partitions=_number(settings.get(options.KAFKA_MIN_PARTITIONS), 0),
        # Of a changelog the records are read as they are: what they say is the adapter's matter.
        format=next((one for one in get_args(Format) if one == kind), "bytes"),
        is_strict=declared.mode == "strict",
        tombstones="row" if declared.format == "changelog" else declared.tombstones or "",
    )


def check_unread(settings: Settings, declared: Source | None, place: PlaceOf, problems: Problems) -> None:
    """Report what is said of topics in a pipeline that reads none; a config is for others, too.

    Args:
        settings: One value per key.
        declared: What stands under ``source:``.
        place: Gives the place of a path of keys.
        problems: Receives CONFLICTING_SETTING.
    """
    hint = f"Name a topic by '{options.KAFKA_TOPIC}' or 'source: {{topics: [...]}}', or files by '{options.FILES_ROOT}'."
    for key in (*options.KAFKA_KEYS, *CLIENT_KEYS):
        if key in settings and not settings[key].file.startswith("configs/"):
            said = f"'{key}' is of topics of Kafka, and none is read."
            problems.add(settings[key].file, settings[key].line, "CONFLICTING_SETTING", said, hint)
    if declared is not None and declared != NOT_SAID and declared.format != "changelog":
        at = place("source")
        said = "'source' is of topics of Kafka and of files, and none are read."
        problems.add(at.file, at.line, "CONFLICTING_SETTING", said, hint)


def _check_pattern(pattern: str | None, at: Place, problems: Problems) -> None:
    try:
        re.compile(pattern or "")
    except re.error as error:
        problems.add(at.file, at.line, "BAD_VALUE", f"source.pattern is no regular expression: {error}.", "Write 'orders_.*'.")


def _check_client(client: Mapping[str, str], settings: Settings, secrets: Redactor, problems: Problems) -> None:
    for key in SECRET_KEYS:
        if key in client and secrets.redact_whole(client[key]) == client[key]:
            said = f"'{key}' stands in the file, where everybody reads it who reads the project."
            hint = f"Read it from the environment: '{key}: ... {{{{ env.NAME }}}} ...'."
            problems.add(settings[key].file, settings[key].line, "SECRET_IN_FILE", said, hint)
    try:
        without_jvm(client)
    except ValueError as wrong:
        key = str(wrong).split(" ")[0].rstrip(":")
        at = settings.get(key) or settings.get("security.protocol") or settings.get(SERVERS)
        if at is not None:
            problems.add(at.file, at.line, "NOT_SUPPORTED", f"{wrong}.", "See docs/guides/kafka.md, Security.")


def _number(setting: Setting | None, default: int) -> int:
    # One that is none has been reported.
    return int(setting.value) if setting is not None and setting.value.isdigit() and len(setting.value) < 19 else default


def _flag(setting: Setting | None, default: bool) -> bool:
    return setting.value.lower() == "true" if setting is not None else default


def _reset(setting: Setting | None) -> Reset:
    found = setting.value.lower() if setting is not None else "none"
    return "earliest" if found == "earliest" else "latest" if found == "latest" else "none"


def _group(settings: Settings) -> str:
    commits = _flag(settings.get(options.KAFKA_COMMIT_OFFSETS), True)
    return settings[GROUP].value.strip() if GROUP in settings and commits else ""
