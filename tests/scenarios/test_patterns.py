"""The patterns of ``freshet init``: each validates, its cases hold, and two landings leave what a recompute makes."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from freshet.cli.main import main
from freshet.cli.patterns import PATTERNS, steps_of
from tests.kit.whole import WHOLE

# How far the source was read is no matter of what the rows hold; nor is when news came of what is gone since (a dimension's
# updated_at), or a row of which no system knows anything any more.
_APART = {"computed_upto", "_hoodie_is_deleted"}
_APART_TOO = {"derived.dim_customer": {"updated_at"}}
_KNOWN = {"derived.dim_customer": "coalesce(name, city, cast(points as string)) is not null"}
_SMALL = """\
spark:
  spark.master: "local[2]"
  spark.sql.shuffle.partitions: 2
  spark.sql.codegen.wholeStage: false
  spark.sql.codegen.factoryMode: NO_CODEGEN
"""


class Shop:
    """A project of patterns, and what a newcomer types in it."""

    def __init__(self, root: Path, spark: SparkSession, *patterns: str) -> None:
        self.root, self.spark = root, spark
        made = CliRunner().invoke(main, ["init", str(root), *(f"--pattern={one}" for one in patterns), "--output", "json"])
        assert made.exit_code == 0, made.output
        self.steps = [shlex.split(step)[1:] for step in json.loads(made.stdout)["steps"] if step.startswith("freshet ")]
        if not WHOLE:
            unlisted = "" if "moving_rows" in patterns else "hoodie: {hoodie.metadata.enable: false}\n"
            (root / "configs/local.yml").write_text(_SMALL + unlisted, encoding="utf-8")

    def freshet(self, *words: str) -> Any:
        """Run a command; its files are named from the project's folder."""
        said = [str(self.root / word) if word.startswith("data/") else word for word in words]
        done = CliRunner().invoke(main, [*said, "--output", "json", "-C", str(self.root)])
        assert done.exit_code == 0, f"{words}: {done.output}"
        return json.loads(done.stdout)

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        found = self.spark.read.format("hudi").load(str(self.path(table))).where(_KNOWN.get(table, "true"))
        apart = _APART | _APART_TOO.get(table, set())
        columns = [name for name in found.columns if not name.startswith("_hoodie_") and name not in apart]
        return sorted((tuple(row) for row in found.select(*columns).collect()), key=repr)

    def path(self, table: str) -> Path:
        return self.root / "warehouse" / table.replace(".", "/")


def follow(shop: Shop, *patterns: str) -> None:
    """Do what ``init`` says comes next, and then compute each target anew, from its sources as they are at the end."""
    before: dict[str, list[tuple[Any, ...]]] = {}
    targets = [PATTERNS[name].target for name in patterns]
    for words in shop.steps:
        found = shop.freshet(*words)
        if words[0] == "run":
            assert all(run["outcome"] == "committed" for run in found["runs"]), found
            seen, before = before, {target: shop.rows(target) for target in targets}
            for target in targets:
                assert before[target], f"{target} is empty, which proves nothing"
                assert before[target] != seen.get(target), f"the changes are none to {target}, which proves nothing"
    if WHOLE:
        # Of tables that are right an audit says so; one that two pipelines own it refuses: COLUMNS_NOT_OWNED.
        for name in set(patterns) - {"dimension"}:
            shop.freshet("audit", PATTERNS[name].target.partition(".")[2], "--all")
    for target in targets:
        shutil.rmtree(shop.path(target))
    shop.freshet("run", "--all")
    for target in targets:
        assert before[target] == shop.rows(target), target


def test_a_pattern_from_init_to_a_changed_table(spark: SparkSession, tmp_path: Path) -> None:
    """One pattern, whole: cases, two landings, two runs, a look, and the same rows as a recompute. The others: at night."""
    shop = Shop(tmp_path / "shop", spark, "history")
    follow(shop, "history")
    current = {row[0]: row for row in shop.rows("derived.price_history") if row[4]}
    assert len(current) == len({row[0] for row in shop.rows("derived.price_history")})


@pytest.mark.nightly
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_from_init_to_a_changed_table(spark: SparkSession, tmp_path: Path, pattern: str) -> None:
    follow(Shop(tmp_path / "shop", spark, pattern), pattern)


@pytest.mark.nightly
def test_all_patterns_in_one_project(spark: SparkSession, tmp_path: Path) -> None:
    """Added one after the other to a project that stands, whose cases hold in one session."""
    shop = Shop(tmp_path / "shop", spark, *list(PATTERNS)[:2])
    for pattern in list(PATTERNS)[2:]:
        done = CliRunner().invoke(main, ["init", str(shop.root), "--pattern", pattern])
        assert done.exit_code == 0, done.output
    found = shop.freshet("test")
    assert found["failed"] == 0, found
    assert {one["pipeline"] for one in found["pipelines"] if one["cases"]} == {
        path.stem for path in (shop.root / "pipelines").glob("*.yml")
    }
    assert steps_of(list(PATTERNS))
