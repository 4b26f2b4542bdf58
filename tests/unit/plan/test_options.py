"""Which table services may run beside the runs of a pipeline, and what the writer is told by default."""

from __future__ import annotations

import pytest

from freshet.hudi.options import compaction_is_due, excludes_runs, writer_options
from freshet.project.model.pipeline import IndexSpec
from tests.kit.memory import a_commit, a_spec, a_table_state

OCC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


@pytest.mark.parametrize(
    ("table_type", "options", "services", "excludes"),
    [
        ("MERGE_ON_READ", {}, ("clean",), True),
        ("MERGE_ON_READ", OCC, ("archive",), False),
        # What is cleaned beside a compaction may be what that one reads.
        ("MERGE_ON_READ", OCC, ("clean",), True),
        ("COPY_ON_WRITE", OCC, ("clean",), False),
        # A compaction is inline where nothing else is said.
        ("MERGE_ON_READ", OCC, ("compact", "clean"), True),
        ("MERGE_ON_READ", {**OCC, "hoodie.compact.inline": "false"}, ("compact", "clean"), False),
        ("COPY_ON_WRITE", OCC, ("compact",), False),
        ("COPY_ON_WRITE", OCC, ("cluster",), False),
        ("COPY_ON_WRITE", {**OCC, "hoodie.clustering.inline": "true"}, ("cluster",), True),
    ],
)
def test_two_never_carry_out_one_plan(
    table_type: str,
    options: dict[str, str],
    services: tuple[str, ...],
    excludes: bool,
) -> None:
    spec = a_spec(target={"table_type": table_type}, write_options=options)
    assert excludes_runs(spec, services) == excludes


@pytest.mark.parametrize(
    ("actions", "options", "due"),
    [
        ((), {}, False),
        (("deltacommit",) * 3, {}, False),
        # By default the fifth; a table service's own commit does not count.
        (("deltacommit",) * 4, {}, True),
        (("deltacommit", "deltacommit", "replacecommit", "deltacommit"), {}, False),
        (("deltacommit",) * 4, {"hoodie.compact.inline": "false"}, False),
        (("deltacommit",), {"hoodie.compact.inline.max.delta.commits": "2"}, True),
        (("deltacommit", "deltacommit", "commit", "deltacommit"), {"hoodie.compact.inline.max.delta.commits": "3"}, False),
    ],
)
def test_the_commit_that_a_compaction_follows(actions: tuple[str, ...], options: dict[str, str], due: bool) -> None:
    target = a_table_state([a_commit(10 * n, action=action) for n, action in enumerate(actions, start=1)])
    assert compaction_is_due(a_spec(target={"table_type": "MERGE_ON_READ"}, write_options=options), target) == due
    assert not compaction_is_due(a_spec(target={"table_type": "COPY_ON_WRITE"}, write_options=options), target)
    assert not compaction_is_due(a_spec(target={"table_type": "MERGE_ON_READ"}, write_options=options), None)


@pytest.mark.parametrize(
    ("index", "table_type", "own", "limit"),
    [
        ("RECORD_INDEX", "MERGE_ON_READ", {}, "4194304"),
        ("HBASE", "MERGE_ON_READ", {}, "4194304"),
        ("RECORD_INDEX", "MERGE_ON_READ", {"hoodie.parquet.small.file.limit": "7"}, "7"),
        ("RECORD_INDEX", "COPY_ON_WRITE", {}, None),
        ("BUCKET", "MERGE_ON_READ", {}, None),
    ],
)
def test_new_rows_of_a_global_index_rewrite_small_files_alone(
    index: str,
    table_type: str,
    own: dict[str, str],
    limit: str | None,
) -> None:
    spec = a_spec(target={"table_type": table_type}, write_options=own, index=IndexSpec(index, {}))  # type: ignore[arg-type]
    assert writer_options(spec).get("hoodie.parquet.small.file.limit") == limit
