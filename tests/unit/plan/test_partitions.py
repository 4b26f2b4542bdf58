"""What the paths of a window's partitions tell, and when they are left alone."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.sources.hudi.look.partitions import partition_values, touched_partitions
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.reads import Partitions
from tests.kit.memory import SOURCE, a_commit, a_source_spec, a_table_state, at


def touched(*paths: str, **config: Any) -> Partitions:
    source = a_table_state([a_commit(10), a_commit(20, partitions=paths)], **config)
    return touched_partitions(
        source, next_window("earnings", source, a_source_spec(), HudiPosition(instant=at(10), table=SOURCE.path))
    )


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("day=50%25", ("50%",)),
        ("a%2Fb", ("a/b",)),
        ("day=x%3Dy", ("x=y",)),
        ("50%2525", ("50%25",)),
        ("a b", ("a b",)),
    ],
)
def test_escaped_values(path: str, values: tuple[str, ...]) -> None:
    assert partition_values(path, ("day",), url_encoded=True) == values


def test_two_columns_escaped() -> None:
    assert partition_values("50%25/a%2Fb", ("day", "hour"), url_encoded=True) == ("50%", "a/b")


def test_plain_paths_are_named() -> None:
    assert touched("2026-01-05", "d2") == Partitions(("day",), ("2026-01-05", "d2"))
    assert touched("day=d1", hive_style=True) == Partitions(("day",), ("day=d1",))
    assert touched("50%25", "x=y", url_encoded=True) == Partitions(("day",), ("50%25", "x=y"), True)


@pytest.mark.parametrize(
    ("paths", "config"),
    [
        (("d1", "day=z"), {}),
        (("a=b",), {}),
        (("50%",), {}),
        (("d1", "__HIVE_DEFAULT_PARTITION__"), {}),
        (("a/b",), {}),
        (("2026-01-05",), {"plain_paths": False}),
    ],
)
def test_of_others_all_partitions_are_read(paths: tuple[str, ...], config: dict[str, Any]) -> None:
    """A path of two readings, or one that is computed, would leave partitions out that the window wrote."""
    assert touched(*paths, **config) == Partitions()
