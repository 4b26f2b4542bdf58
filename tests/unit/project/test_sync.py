"""A tool that tells a catalogue of the table must be on the class path: Hudi looks for it after the first commit only.

Of the kind: every class that a setting names. The members: the bundle's own, one of another bundle, one that is misspelt, the
one that ``mode: glue`` adds by itself; jars that hold it, that do not, that are not there, and that only the JVM can look into.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from freshet.project.rules.sync import sync_tools, without_sync
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import YML_FILE, yml

HIVE = "org.apache.hudi.hive.HiveSyncTool"
GLUE = "org.apache.hudi.aws.sync.AwsGlueCatalogSyncTool"
ENABLED = "  hoodie.datasource.hive_sync.enable: true"
META = "  hoodie.datasource.meta.sync.enable: true"
TOOL = "  hoodie.meta.sync.client.tool.class: {}"


@pytest.mark.parametrize(
    ("options", "tools"),
    [
        ({}, ()),
        ({"hoodie.meta.sync.client.tool.class": "x.Y"}, ()),
        ({"hoodie.datasource.hive_sync.enable": "false"}, ()),
        ({"hoodie.datasource.hive_sync.enable": "TRUE"}, (HIVE,)),
        ({"hoodie.datasource.meta.sync.enable": "true", "hoodie.meta.sync.client.tool.class": " x.Y, x.Z"}, ("x.Y", "x.Z")),
        ({"hoodie.datasource.hive_sync.enable": "true", "hoodie.datasource.hive_sync.mode": "glue"}, (HIVE, GLUE)),
    ],
)
def test_the_tools_are_those_that_hudi_would_call(options: dict[str, str], tools: tuple[str, ...]) -> None:
    assert sync_tools(options) == tools
    assert sync_tools(without_sync(options)) == ()


@pytest.mark.parametrize(
    "lines",
    [
        (ENABLED, TOOL.format(GLUE)),
        (META, TOOL.format("org.apache.hudi.hive.HiveSyncTol")),
        (META, TOOL.format(f"{HIVE},no.such.Tool")),
        (ENABLED, "  hoodie.datasource.hive_sync.mode: glue"),
    ],
)
def test_a_tool_that_is_in_no_jar_is_refused_at_its_line(problems_of: Check, lines: tuple[str, str]) -> None:
    assert seen(problems_of({YML_FILE: yml(*lines)})) == [(YML_FILE, 8, "SYNC_TOOL_MISSING")]


@pytest.mark.parametrize(
    "lines",
    [
        (ENABLED,),
        (META,),
        (META, TOOL.format(HIVE)),
        (TOOL.format("no.such.Tool"),),
        (META, TOOL.format(f"{HIVE},org.apache.hudi.hive.replication.GlobalHiveSyncTool")),
    ],
)
def test_what_the_bundle_holds_and_what_is_not_called_is_accepted(problems_of: Check, lines: tuple[str, ...]) -> None:
    assert problems_of({YML_FILE: yml(*lines)}) == []


def test_jars_of_the_users_are_looked_into(problems_of: Check, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "own.jar", "w") as jar:
        jar.writestr("own/Tool.class", b"")
    (tmp_path / "classes/own").mkdir(parents=True)
    (tmp_path / "classes/own/Tool.class").touch()
    (tmp_path / "broken.jar").write_text("no jar")
    tool = (META, TOOL.format("own.Tool"))
    for spark in (
        f"spark.jars: '{tmp_path}/broken.jar,{tmp_path}/own.jar'",
        f"spark.jars: file:{tmp_path}/own.jar",
        f"spark.driver.extraClassPath: '/nothing:{tmp_path}/classes'",
        f"spark.driver.extraClassPath: '{tmp_path}/*'",
        "spark.jars: 's3a://jars/own.jar'",
        "spark.jars.packages: 'own:tool:1.0'",
    ):
        assert problems_of({YML_FILE: yml(*tool, "spark:", f"  {spark}")}) == [], spark
    for spark in (f"spark.jars: {tmp_path}/broken.jar", f"spark.jars: {tmp_path}/gone.jar", "spark.a: b"):
        assert seen(problems_of({YML_FILE: yml(*tool, "spark:", f"  {spark}")})) == [(YML_FILE, 8, "SYNC_TOOL_MISSING")], spark
