"""One value for each Hudi key, out of the configs, the pipeline and the DDL, checked by name and type."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from freshet.hudi.keys import options, streamer_keys
from freshet.hudi.keys.kafka_keys import check_client_key, is_client_key
from freshet.hudi.keys.stances import check_stance
from freshet.hudi.keys.streamer_options import advice_for
from freshet.problems import Problems, did_you_mean
from freshet.project.load.layers import canonical_key
from freshet.project.syntax.ddl import DdlTable, Setting

_DDL_NAMES = {"primaryKey": options.RECORD_KEY, "preCombineField": options.ORDERING_FIELD, "type": options.TABLE_TYPE}
_LISTS = (options.RECORD_KEY, options.PARTITION_BY, options.BUCKET_FIELD)
_TABLE_TYPES = {
    "cow": "COPY_ON_WRITE",
    "mor": "MERGE_ON_READ",
    "copy_on_write": "COPY_ON_WRITE",
    "merge_on_read": "MERGE_ON_READ",
}


def check_hoodie(settings: Mapping[str, Setting], problems: Problems) -> None:
    """Check keys and values by Hudi's catalogue and by the list of HoodieStreamer's keys.

    Args:
        settings: Values by canonical key.
        problems: Receives RESERVED_KEY, UNKNOWN_KEY, WRONG_TYPE and what the catalogues say.
    """
    for key, setting in settings.items():
        reserved = options.RESERVED.get(key)
        if reserved is not None:
            said = f"'{setting.name or key}' cannot be set: freshet sets it itself or relies on it."
            problems.add(setting.file, setting.line, "RESERVED_KEY", said, reserved)
            continue
        found = problem_of(key, setting.value)
        if found is not None:
            code, said, hint = found
            said = said.replace(key, setting.name or key)
            if setting.name.startswith(streamer_keys.OLD_PREFIX):
                hint = hint.replace(streamer_keys.PREFIX, streamer_keys.OLD_PREFIX)
            problems.add(setting.file, setting.line, code, said, hint)


@lru_cache(maxsize=4096)
def problem_of(key: str, value: str) -> tuple[str, str, str] | None:
    """Return what is wrong with one key that stands under ``hoodie:``: code, message and hint."""
    if is_client_key(key):
        of_kafka = check_client_key(key, value)
        return None if of_kafka is None else (of_kafka.code, of_kafka.message, of_kafka.hint)
    if not key.startswith("hoodie."):
        hint = advice_for(key) or "Only hoodie.* keys stand under 'hoodie:'."
        return "UNKNOWN_KEY", f"'{key[:80]}' is not a Hudi property.", hint
    if key == options.TABLE_TYPE:
        known = value.lower() in _TABLE_TYPES
        return None if known else ("BAD_VALUE", f"'{value[:40]}' is not a table type.", did_you_mean(value, ("cow", "mor")))
    if key in (options.OPERATION, options.INDEX_TYPE):
        # Read by the rules, which know what to write instead.
        return None
    found = streamer_keys.check_hoodie_key(key, value)
    if found is None and not streamer_keys.is_streamer_key(key):
        found = check_stance(key, value)
    return None if found is None else (found.code, found.message, found.hint)


def agreed(settings: Mapping[str, Setting], ddl: DdlTable, problems: Problems) -> dict[str, Setting]:
    """Bring together what YAML and DDL say; a config is a default, so a DDL's value goes before it.

    Args:
        settings: The layers' values by canonical key.
        ddl: The target's DDL.
        problems: Receives CONFLICTING_SETTING, naming both places.

    Returns:
        One value per key; lists without blanks, the table type by its long name.
    """
    declared: dict[str, Setting] = {}
    for name, setting in ddl.settings.items():
        key = _DDL_NAMES.get(name) or canonical_key(name)
        if key in declared:
            _conflict(key, declared[key], setting, problems)
        declared[key] = setting
    if ddl.partition_by is not None:
        if options.PARTITION_BY in declared:
            _conflict(options.PARTITION_BY, declared[options.PARTITION_BY], ddl.partition_by, problems)
        declared[options.PARTITION_BY] = ddl.partition_by
    elif options.PARTITION_BY in settings and _normal(options.PARTITION_BY, settings[options.PARTITION_BY].value):
        declared[options.PARTITION_BY] = Setting(value="", file=ddl.file, line=ddl.line)
    hudi = {key: value for key, value in declared.items() if not key.startswith(options.STREAMER_PREFIX)}
    for key in declared.keys() - hudi.keys():
        problems.add(
            declared[key].file,
            declared[key].line,
            "MISPLACED_KEY",
            f"'{key}' is not a property of a table.",
            "It belongs in the pipeline, under 'hoodie:'.",
        )
    check_hoodie({key: value for key, value in hudi.items() if key not in _LISTS}, problems)
    result = dict(settings)
    for key, setting in hudi.items():
        other = settings.get(key)
        if other is not None and not other.file.startswith("configs/"):
            _conflict(key, setting, other, problems)
        else:
            result[key] = setting
    return {key: Setting(value=_normal(key, value.value), file=value.file, line=value.line) for key, value in result.items()}


def _conflict(key: str, ddl: Setting, other: Setting, problems: Problems) -> None:
    mine, theirs = _normal(key, ddl.value), _normal(key, other.value)
    if mine.lower() != theirs.lower():
        said = f"'{mine}'" if mine else "no PARTITIONED BY"
        problems.add(
            other.file,
            other.line,
            "CONFLICTING_SETTING",
            f"{key} is '{theirs}' here, but {ddl.file}:{ddl.line} says {said}.",
            "Make both agree, or remove one.",
        )


def _normal(key: str, value: str) -> str:
    if key in _LISTS:
        return ",".join(part.strip() for part in value.split(",") if part.strip())
    if key == options.TABLE_TYPE:
        return _TABLE_TYPES.get(value.lower(), value)
    return value.strip()
