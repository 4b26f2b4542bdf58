"""How much of an HBase cluster a pipeline may use, and what Hudi's index is told of the cluster. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from freshet.hudi.checkpoint import INDEX_ROWS_KEY
from freshet.hudi.keys import options
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import HBaseSpec

#: The least share of a cluster that rows alone give: a small dataset is updated as often as a large one.
FLOOR = 0.05
_SERVICES = ("COMPACT", "LOG_COMPACT", "CLUSTER")


def hbase_options(hbase: HBaseSpec) -> dict[str, str]:
    """Return Hudi's options for an index table; the rates follow from the cluster and are added by the run."""
    return {
        options.HBASE_QUORUM: hbase.quorum,
        options.HBASE_PORT: str(hbase.port),
        options.HBASE_ZNODE: hbase.znode,
        options.HBASE_TABLE: hbase.table,
        # A key that moves leaves its old partition; Hudi's default leaves the row there, with the old partition's value.
        options.HBASE_MOVES: "true",
        # A commit that is rolled back takes its entries with it; by Hudi's default they stay and name files that are gone.
        options.HBASE_ROLLBACK: "true",
    }


def client_settings(hbase: HBaseSpec) -> dict[str, str]:
    """Return the settings by which HBase's client finds the cluster."""
    return {
        **hbase.client,
        "hbase.zookeeper.quorum": hbase.quorum,
        "hbase.zookeeper.property.clientPort": str(hbase.port),
        "zookeeper.znode.parent": hbase.znode,
    }


def shares(declared: Mapping[str, float | None], rows: Mapping[str, int]) -> dict[str, float]:
    """Divide a cluster among pipelines.

    Args:
        declared: Each pipeline's declared share, None where its rows decide.
        rows: Rows of each pipeline's target.

    Returns:
        Shares between 0 and 1, together at most 1. What is not declared is divided in proportion to the rows, each getting
        at least ``FLOOR``, or an equal part where there is less than that for each.
    """
    found = {name: share for name, share in declared.items() if share is not None}
    rest = max(0.0, 1 - sum(found.values()))
    open_ones = [name for name, share in declared.items() if share is None]
    if not open_ones:
        return found
    floor = min(FLOOR, rest / len(open_ones))
    weights = {name: max(1, rows.get(name, 0)) for name in open_ones}
    # Whoever would get less than the floor gets the floor, and the others divide what is then left.
    low: set[str] = set()
    while True:
        high = [name for name in open_ones if name not in low]
        left = rest - floor * len(low)
        whole = sum(weights[name] for name in high)
        below = {name for name in high if left * weights[name] / whole < floor}
        if not below or len(below) == len(high):
            break
        low |= below
    for name in open_ones:
        found[name] = floor if name in low else left * weights[name] / whole
    return found


def rows_of(table: TableState | None) -> int:
    """Return about how many rows a table with an HBase index has, by its commits' own counts."""
    total = 0
    for _, info in table.newest_first() if table else ():
        if info.operation in _SERVICES:
            continue
        total += info.inserts - info.deletes
        if INDEX_ROWS_KEY in info.extra:
            # What stood there before that commit.
            total += int(info.extra[INDEX_ROWS_KEY])
            break
    return max(0, total)


# A region server answers one call out of blocks of 100 MB at most (hbase.server.scanner.max.result.size), and each key of a
# large index may lie in a block of 64 KB of its own. What it says then is not understood by the relocated client in Hudi's
# bundle, and the write fails. By so many a task looks up 10,000 keys a second at most.
_MOST_GETS = 1_000


def rate_options(requests_per_second: float, jvms: int) -> dict[str, str]:
    """Return the options by which an HBase index keeps to a rate.

    ``freshet.index.Paced`` spaces the requests of all tasks of a JVM. Hudi 1.0.2's own limits are each task's, which puts
    ``put.batch.size`` entries a second and looks up ten times ``get.batch.size``: they are set so that none binds
    below 10,000 look-ups a second of a task.

    Args:
        requests_per_second: The pipeline's share of the cluster.
        jvms: Executors, over which it is divided; 1 where Spark runs in one process.
    """
    each = requests_per_second / max(1, jvms)
    return {
        "hoodie.index.class": "freshet.index.Paced",
        "hoodie.freshet.index.rate": f"{max(0.1, each):.3f}",
        "hoodie.index.hbase.put.batch.size": str(max(1, math.ceil(each))),
        "hoodie.index.hbase.get.batch.size": str(min(_MOST_GETS, max(1, math.ceil(each / 10)))),
        "hoodie.index.hbase.put.batch.size.autocompute": "false",
    }
