"""What a table service may ask of an HBase cluster is divided among the JVMs that its tasks run in, as a run's is."""

from __future__ import annotations

import pytest

from freshet.hudi.shares import rate_options
from freshet.index.hbase.opening import Opened
from freshet.project.model.pipeline import HBaseSpec, IndexSpec
from freshet.run import service
from tests.kit.memory import a_spec, a_table_spec


@pytest.mark.parametrize(("tasks", "jvms"), [(8, 1), (8, 2), (200, 50), (1, 1)])
def test_a_service_keeps_to_the_rate_that_a_run_keeps_to(tasks: int, jvms: int) -> None:
    """Of the kind: any place that gives an index its rate must give JVMs, within which ``freshet.index.Paced`` spaces the
    requests of all tasks; both callers, a run's commit and a service, are held against each other here."""
    opened = Opened(generation="g", rows=1000, share=0.5, servers=4, requests_per_second=4000.0, tasks=tasks, jvms=jvms)
    hbase = HBaseSpec(quorum="zk", port=2181, znode="/hbase", table="entries", server_rate=1000, shares={}, client={})
    spec = a_spec(index=IndexSpec("HBASE", {}, hbase=hbase), target=a_table_spec())
    found = service._at_its_rate(spec, opened)
    wanted = rate_options(4000.0, jvms)
    assert {key: found.write_options[key] for key in wanted} == wanted
    assert {key: opened.options({})[key] for key in wanted} == wanted
