"""Which table services may run beside the runs of a pipeline."""

from __future__ import annotations

import pytest

from framework.plan.options import excludes_runs
from tests.unit.builders import a_spec

OCC = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}


@pytest.mark.parametrize(("table_type", "options", "services", "excludes"), [
    ("MERGE_ON_READ", {}, ("clean",), True),
    ("MERGE_ON_READ", OCC, ("clean",), False),
    # A compaction is inline where nothing else is said.
    ("MERGE_ON_READ", OCC, ("compact", "clean"), True),
    ("MERGE_ON_READ", {**OCC, "hoodie.compact.inline": "false"}, ("compact", "clean"), False),
    ("COPY_ON_WRITE", OCC, ("compact",), False),
    ("COPY_ON_WRITE", OCC, ("cluster",), False),
    ("COPY_ON_WRITE", {**OCC, "hoodie.clustering.inline": "true"}, ("cluster",), True),
])
def test_two_never_carry_out_one_plan(
    table_type: str, options: dict[str, str], services: tuple[str, ...], excludes: bool,
) -> None:
    spec = a_spec(target={"table_type": table_type}, write_options=options)
    assert excludes_runs(spec, services) == excludes
