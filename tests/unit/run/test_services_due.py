"""Which services a process that stays does, because the runs leave them to others."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.project.model.pipeline import PipelineSpec
from freshet.run.services_due import left_to_others, services_due
from tests.kit.memory import a_commit, a_spec, a_table_spec, a_table_state, at

OFF = {
    "hoodie.compact.inline": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "FALSE",
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.inline.max.commits": "3",
}


def spec_of(options: dict[str, str], table_type: str = "MERGE_ON_READ") -> PipelineSpec:
    return a_spec(write_options=options, target=a_table_spec(table_type=table_type))


@pytest.mark.parametrize(
    ("options", "table_type", "expected"),
    [
        ({}, "MERGE_ON_READ", ()),
        (OFF, "MERGE_ON_READ", ("compact", "cluster", "clean", "archive")),
        (OFF, "COPY_ON_WRITE", ("cluster", "clean", "archive")),
        ({"hoodie.clustering.inline": "false"}, "COPY_ON_WRITE", ()),
        ({"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "3"}, "COPY_ON_WRITE", ()),
        (
            # What compacts such a table cleans it.
            {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL", "hoodie.compact.inline": "false"},
            "MERGE_ON_READ",
            ("compact", "clean", "archive"),
        ),
    ],
)
def test_what_the_runs_do_is_left_to_them(options: dict[str, str], table_type: str, expected: tuple[str, ...]) -> None:
    assert left_to_others(spec_of(options, table_type)) == expected


def due(
    count: int, options: dict[str, str], *more: Any, tried: dict[Any, str] | None = None, mor: bool = True
) -> tuple[str, ...]:
    table_type = "MERGE_ON_READ" if mor else "COPY_ON_WRITE"
    action = "deltacommit" if mor else "commit"
    commits = [a_commit(number, action=action) for number in range(1, count + 1)]
    state = a_table_state([*commits, *more], table_type=table_type)
    return services_due(spec_of({**OFF, **options}, table_type), state, tried or {})


def test_a_compaction_is_due_after_as_many_commits_as_the_options_say() -> None:
    assert "compact" not in due(4, {})
    assert "compact" in due(5, {})
    assert "compact" not in due(5, {"hoodie.compact.inline.max.delta.commits": "7"})
    assert "compact" not in due(8, {}, a_commit(9, operation="COMPACT"))


def test_a_clustering_is_due_after_as_many_commits_since_the_last_one() -> None:
    assert "cluster" not in due(2, {}, mor=False)
    assert "cluster" in due(3, {}, mor=False)
    last = a_commit(9, action="replacecommit", operation="CLUSTER")
    assert "cluster" not in due(8, {}, last, mor=False)
    assert "cluster" not in due(8, {}, last, a_commit(10), a_commit(11), mor=False)
    assert "cluster" in due(8, {}, last, a_commit(10), a_commit(11), a_commit(12), mor=False)


def test_cleaning_and_archiving_are_due_where_they_have_something_to_do() -> None:
    assert due(10, {}, mor=False) == ("cluster",)
    assert due(11, {}, mor=False) == ("cluster", "clean")
    assert "clean" in due(3, {"hoodie.cleaner.commits.retained": "2"}, mor=False)
    assert "clean" not in due(12, {"hoodie.clean.commits.retained": "20"}, mor=False)
    assert "archive" not in due(30, {}, mor=False)
    assert "archive" in due(31, {}, mor=False)


def test_what_was_tried_is_due_again_after_some_commits() -> None:
    """A cleaner that finds nothing leaves no trace."""
    assert due(40, {}, tried=dict.fromkeys(("cluster", "clean", "archive"), at(36)), mor=False) == ()
    assert due(41, {}, tried={"clean": at(36), "archive": at(40), "cluster": at(40)}, mor=False) == ("clean",)
