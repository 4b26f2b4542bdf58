"""Rules of the main source and of the other inputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from freshet.hudi.keys import options
from freshet.problems import Problems, did_you_mean
from freshet.project.model.paths import named_table, normal_path
from freshet.project.model.pipeline import IncrementalFormat, MissingCheckpoint, SourceSpec, TableRef
from freshet.project.syntax.ddl import Setting
from freshet.project.syntax.files import Place

_POLICIES = ("READ_UPTO_LATEST_COMMIT", "READ_LATEST")
_FORMATS = ("latest_state", "cdc")
#: Keys that reach the run through SourceSpec, not through the write options.
OWN_KEYS = frozenset((options.FULL_SCAN, options.INCREMENTAL_FORMAT))


def source_path(settings: Mapping[str, Setting], root: Path) -> str | None:
    """Return the normal path of the main source, or None where none is named."""
    setting = settings.get(options.SOURCE_PATH)
    return normal_path(setting.value, root) if setting is not None and setting.value.strip() else None


def read_source(
    settings: Mapping[str, Setting],
    place: Place,
    root: Path,
    targets: Mapping[str, str],
    warehouse: Mapping[str, str],
    problems: Problems,
) -> SourceSpec | None:
    """Read how a Hudi table is read as the main source.

    Args:
        settings: One value per Hudi key.
        place: Where a missing key is reported.
        root: The project's folder.
        targets: Paths of the project's own tables, by name.
        warehouse: Root path of each database.
        problems: Receives MISSING_SOURCE; values that do not fit are reported by the catalogue of keys.

    Returns:
        The source, or None where it is not named.
    """
    path = source_path(settings, root)
    most = settings.get(options.MAX_COMMITS)
    if most is not None and not (most.value.isdigit() and len(most.value) < 10):
        most = None  # The catalogue of keys has reported it.
    missing = _choice(settings.get(options.MISSING_CHECKPOINT), _POLICIES, "ERROR")
    form = _choice(settings.get(options.INCREMENTAL_FORMAT), _FORMATS, "auto")
    scan = settings.get(options.FULL_SCAN)
    if path is None:
        # A path that is there and empty has been reported: its template failed, or the catalogue refused it.
        if options.SOURCE_PATH in settings:
            return None
        problems.add(
            place.file,
            place.line,
            "MISSING_SOURCE",
            "The pipeline names no main source.",
            f"Write '{options.SOURCE_PATH}: <path of a Hudi table>' under 'hoodie:', for Kafka '{options.KAFKA_TOPIC}', for "
            f"files '{options.FILES_ROOT}'.",
        )
        return None
    return SourceSpec(
        table=named_table(path, targets, warehouse),
        max_commits=int(most.value) if most else options.DEFAULT_MAX_COMMITS,
        missing_checkpoint=cast(MissingCheckpoint, missing),
        full_scan_when_expired=scan is not None and scan.value.lower() == "true",
        incremental_format=cast(IncrementalFormat, form),
    )


def table_by_name(
    name: str,
    place: Place,
    targets: Mapping[str, str],
    warehouse: Mapping[str, str],
    problems: Problems,
) -> TableRef | None:
    """Find a table by ``database.table``: a target of the project, else below its database's root.

    Args:
        name: The dotted name.
        place: Where it is named.
        targets: Paths of the project's own tables, by name.
        warehouse: Root path of each database.
        problems: Receives MISSING_DATABASE or UNKNOWN_DATABASE.

    Returns:
        The table, or None.
    """
    if name in targets:
        return TableRef(name, targets[name])
    database, dot, table = name.partition(".")
    if not dot or not database or not table or "/" in name or ".." in name:
        problems.add(
            place.file,
            place.line,
            "MISSING_DATABASE",
            f"'{name[:80]}' is not written as database.table.",
            did_you_mean(name, warehouse) if warehouse else "Name a database of 'warehouse:'.",
        )
        return None
    if database not in warehouse:
        problems.add(
            place.file,
            place.line,
            "UNKNOWN_DATABASE",
            f"The database '{database[:80]}' is not in 'warehouse:'.",
            did_you_mean(database, warehouse) or "Add 'warehouse: {<database>: <path>}' to configs/base.yml.",
        )
        return None
    return TableRef(name, f"{warehouse[database]}/{table}")


def _choice(setting: Setting | None, known: tuple[str, ...], default: str) -> str:
    by_lower = {name.lower(): name for name in known}
    return by_lower.get(setting.value.lower(), default) if setting is not None else default
