"""Which tools tell a catalogue of the table after a commit, by Hudi's own keys, and whether their classes are there."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from freshet.problems import Problems
from freshet.project.syntax.ddl import Setting

#: Hudi syncs where one of them is true; freshet does it instead, so that it knows what failed.
SYNC_ENABLED = ("hoodie.datasource.hive_sync.enable", "hoodie.datasource.meta.sync.enable")
SYNC_TOOLS = "hoodie.meta.sync.client.tool.class"
_SYNC_MODE = "hoodie.datasource.hive_sync.mode"
_HIVE = "org.apache.hudi.hive.HiveSyncTool"
_GLUE = "org.apache.hudi.aws.sync.AwsGlueCatalogSyncTool"
# What hudi-spark3.5-bundle 1.0.2 holds.
_IN_THE_BUNDLE = (_HIVE, "org.apache.hudi.hive.replication.GlobalHiveSyncTool")


def sync_tools(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the classes that Hudi 1.0.2 would call after a commit; empty where nothing is synced.

    Args:
        options: The writer's options.
    """
    if not any(options.get(key, "").lower() == "true" for key in SYNC_ENABLED):
        return ()
    named = [name.strip() for name in options.get(SYNC_TOOLS, _HIVE).split(",") if name.strip()]
    glue = [_GLUE] if options.get(_SYNC_MODE, "").upper() == "GLUE" else []
    return tuple(dict.fromkeys([*named, *glue]))


def without_sync(options: Mapping[str, str]) -> dict[str, str]:
    """Return the writer's options by which Hudi itself syncs nothing."""
    return {**options, **{key: "false" for key in SYNC_ENABLED if key in options}}


def check_sync(settings: Mapping[str, Setting], spark: Mapping[str, str], problems: Problems) -> None:
    """Report tools that are on no class path: Hudi looks for them after the first commit only.

    Args:
        settings: Hudi's settings by key.
        spark: Spark's settings.
        problems: Receives SYNC_TOOL_MISSING.
    """
    for tool in sync_tools({key: setting.value for key, setting in settings.items()}):
        if tool in _IN_THE_BUNDLE or _may_be_there(tool, spark):
            continue
        key = next(k for k in (SYNC_TOOLS, _SYNC_MODE, *SYNC_ENABLED) if k in settings)
        problems.add(
            settings[key].file,
            settings[key].line,
            "SYNC_TOOL_MISSING",
            f"the sync tool {tool[:120]} is in no jar that Spark is given.",
            f"Name its jar in spark.jars, or write {_HIVE}, which comes with Hudi's bundle.",
        )


def _may_be_there(tool: str, spark: Mapping[str, str]) -> bool:
    if spark.get("spark.jars.packages"):
        # Which only the JVM resolves.
        return True
    places = [*spark.get("spark.jars", "").split(","), *spark.get("spark.driver.extraClassPath", "").split(":")]
    entry = tool.replace(".", "/") + ".class"
    return any(_holds(place.strip(), entry) for place in places if place.strip())


def _holds(place: str, entry: str) -> bool:
    scheme, found, rest = place.partition(":")
    if (found and scheme not in ("file", "local")) or "*" in place:
        # On another file system, or a pattern: only the JVM can tell.
        return True
    path = Path(rest if found else place)
    try:
        if path.is_dir():
            return (path / entry).exists()
        with zipfile.ZipFile(path) as jar:
            return entry in jar.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
