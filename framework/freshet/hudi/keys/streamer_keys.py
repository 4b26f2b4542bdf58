"""HoodieStreamer's own keys: those that freshet honours, and for every other one what to write instead.

They are not in the Spark bundle. Source: the ``*Config`` classes of ``org.apache.hudi.utilities.config`` in Hudi 1.0's
``hudi-utilities``. ``hoodie.deltastreamer.`` is the older form of the prefix, accepted everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from freshet.hudi.keys import hudi_keys, options
from freshet.hudi.keys.hudi_keys import NEAR, KeyProblem, KeyType, check_value
from freshet.hudi.keys.streamer_instead import INSTEAD
from freshet.problems import did_you_mean, nearest

PREFIX = "hoodie.streamer."
OLD_PREFIX = "hoodie.deltastreamer."
SOURCE_PATH = options.SOURCE_PATH
NUM_INSTANTS = f"{PREFIX}source.hoodieincr.num_instants"
MISSING_CHECKPOINT_STRATEGY = options.MISSING_CHECKPOINT


@dataclass(frozen=True, kw_only=True)
class StreamerKey:
    """A key of HoodieStreamer that freshet honours.

    Args:
        name: The key.
        effect: What it does here, one sentence.
        type: Type of its values.
        default: Text of the default; None where leaving it out means something of its own, said in ``effect``.
        valid_values: The only values it takes; empty where any of the type will do.
    """

    name: str
    effect: str
    type: KeyType
    default: str | None
    valid_values: tuple[str, ...] = ()


_OF_SPARK = "of Spark's reader of CSV, for files of CSV."
_CSV: Mapping[str, tuple[KeyType, str]] = {name: ("string", f"Option {name} {_OF_SPARK}") for name in options.CSV_OPTIONS} | {
    "header": ("boolean", "The first line of each file of CSV names its columns; without it they are in the order of the DDL."),
    "multiLine": ("boolean", f"Option multiLine {_OF_SPARK}"),
    "ignoreLeadingWhiteSpace": ("boolean", f"Option ignoreLeadingWhiteSpace {_OF_SPARK}"),
    "ignoreTrailingWhiteSpace": ("boolean", f"Option ignoreTrailingWhiteSpace {_OF_SPARK}"),
    "maxColumns": ("int", f"Option maxColumns {_OF_SPARK}"),
    "maxCharsPerColumn": ("int", f"Option maxCharsPerColumn {_OF_SPARK}"),
    "dateFormat": ("string", "How files of CSV write dates, as Spark's patterns; left out, as ISO 8601 does."),
    "timestampFormat": ("string", "How files of CSV write times, as Spark's patterns; left out, as ISO 8601 does."),
}

HONOURED: Mapping[str, StreamerKey] = MappingProxyType(
    {
        key.name: key
        for key in (
            StreamerKey(
                name=SOURCE_PATH,
                effect="Base path of the Hudi table that <SRC> reads incrementally; required.",
                type="string",
                default=None,
            ),
            StreamerKey(
                name=NUM_INSTANTS,
                effect="At most this many data commits of the source are read by one run.",
                type="int",
                default="5",
            ),
            StreamerKey(
                name=MISSING_CHECKPOINT_STRATEGY,
                effect="What a run without a checkpoint reads: READ_UPTO_LATEST_COMMIT the whole table, READ_LATEST only what "
                "comes after the last commit; left out, such a run is an error.",
                type="string",
                default=None,
                valid_values=("READ_UPTO_LATEST_COMMIT", "READ_LATEST"),
            ),
            StreamerKey(
                name=options.KAFKA_TOPIC,
                effect="Topic of Kafka that <SRC> reads, a row for each record; several topics are 'source: {topics: [...]}'.",
                type="string",
                default=None,
            ),
            StreamerKey(
                name=options.KAFKA_MAX_EVENTS,
                effect="At most this many records of topics are read by one run, shared fairly among the partitions.",
                type="long",
                default="5000000",
            ),
            StreamerKey(
                name=options.KAFKA_FAIL_ON_LOSS,
                effect="Records that are gone before they were read are an error; false goes on with what is there. "
                "HoodieStreamer's default is false.",
                type="boolean",
                default="true",
            ),
            StreamerKey(
                name=options.KAFKA_MIN_PARTITIONS,
                effect="Tasks that read topics at the same time, at least; 0 for one a partition.",
                type="long",
                default="0",
            ),
            StreamerKey(
                name=options.KAFKA_SCHEMA_FILE,
                effect="File of the project with the schema that every record of the topics was written with; for "
                "'source: {format: avro}' without a schema registry.",
                type="string",
                default=None,
            ),
            StreamerKey(
                name=options.KAFKA_COMMIT_OFFSETS,
                effect="Set the offsets of the consumer group 'group.id' after each commit, for tools that show lag; where no "
                "group is named none are. HoodieStreamer's default is false.",
                type="boolean",
                default="true",
            ),
            StreamerKey(
                name=options.FILES_ROOT,
                effect="Folder or bucket below which each file is read once as <SRC>; 'source: {format: ..., files: ...}' says "
                "more.",
                type="string",
                default=None,
            ),
            *(
                StreamerKey(name=f"{options.CSV_PREFIX}{name}", effect=effect, type=kind, default=None)
                for name, (kind, effect) in _CSV.items()
            ),
        )
    }
)

# Keys whose advice is for one who has switched them on.
_SWITCHES = ("source.hoodieincr.read_latest_on_missing_ckpt", "checkpoint.force.skip", "sample.writes.enabled")


def is_streamer_key(key: str) -> bool:
    """Say whether a key is HoodieStreamer's own; ``hoodie.deltastreamer.keygen.*`` are old names of Hudi's keys."""
    if not key.startswith((PREFIX, OLD_PREFIX)):
        return False
    return hudi_keys.canonical(key).startswith((PREFIX, OLD_PREFIX))


def canonical(key: str) -> str:
    """Return a key with HoodieStreamer's current prefix, or Hudi's current name of one of Hudi's own keys."""
    if not is_streamer_key(key):
        return hudi_keys.canonical(key)
    return PREFIX + key.removeprefix(OLD_PREFIX) if key.startswith(OLD_PREFIX) else key


def check_streamer_key(key: str, value: str | None = None) -> KeyProblem | None:
    """Check a key of HoodieStreamer, under either prefix.

    Args:
        key: The key.
        value: The value's text; None checks the name alone.

    Returns:
        None for an honoured key with a fitting value; ``BAD_VALUE``; ``NOT_SUPPORTED`` with what to write instead for
        a key that HoodieStreamer has and freshet does not honour; ``UNKNOWN_KEY`` for any other.
    """
    name = canonical(key)
    if name in HONOURED:
        honoured = HONOURED[name]
        return None if value is None else _check_honoured(key, value, honoured)
    short = name.removeprefix(PREFIX)
    instead = _instead()
    family = next((known for known in instead if known.endswith(".") and short.startswith(known)), None)
    advice = instead.get(short) or (instead[family] if family else None)
    if advice and short in _SWITCHES and (value or "").strip().lower() == "false":
        advice = "Remove it: it is false without the line, too."
    if advice:
        return KeyProblem("NOT_SUPPORTED", f"'{key}' is a key of HoodieStreamer that freshet does not read.", advice)
    known_names = (*HONOURED, *(PREFIX + known for known in instead))
    return KeyProblem(
        "UNKNOWN_KEY", f"unknown key '{key}': HoodieStreamer has none of that name.", did_you_mean(name, known_names, "", NEAR)
    )


def check_hoodie_key(key: str, value: str) -> KeyProblem | None:
    """Check any ``hoodie.*`` key of a pipeline, HoodieStreamer's and Hudi's alike; see the two checks for the codes."""
    return check_streamer_key(key, value) if is_streamer_key(key) else hudi_keys.check_key(key, value)


@lru_cache(maxsize=4096)
def meant_by(key: str) -> str:
    """Return the key that an unknown one is taken for, which is the one that its problem suggests.

    Args:
        key: The key.

    Returns:
        Empty for a key that is known, and where none comes near.
    """
    problem = check_hoodie_key(key, "")
    if problem is None or problem.code != "UNKNOWN_KEY":
        return ""
    if is_streamer_key(key):
        return nearest(canonical(key), HONOURED, NEAR) or ""
    return nearest(key, hudi_keys.names(), NEAR) or ""


@cache
def _instead() -> Mapping[str, str]:
    return {name: advice for advice, names in INSTEAD for name in names.split()}


def _check_honoured(key: str, value: str, honoured: StreamerKey) -> KeyProblem | None:
    problem = check_value(key, value, honoured.type, honoured.valid_values)
    if problem is None and honoured.name in (NUM_INSTANTS, options.KAFKA_MAX_EVENTS) and int(value) < 1:
        return KeyProblem("BAD_VALUE", f"'{key}' does not take '{value}'.", "It takes a whole number from 1 on.")
    if problem is None and honoured.name in (SOURCE_PATH, options.FILES_ROOT) and not value.strip():
        what = "base path of the source table" if honoured.name == SOURCE_PATH else "folder or bucket of the files"
        return KeyProblem("BAD_VALUE", f"'{key}' is empty.", f"Write the {what}.")
    return problem
