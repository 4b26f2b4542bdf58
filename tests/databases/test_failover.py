"""Another MariaDB takes over: by GTID the capture goes on there where it was on the first one."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from freshet.databases.address import read_address
from freshet.dev.databases.mariadb import MariaDb
from freshet.dev.life import State
from tests.databases.shops import MariaDbShop
from tests.databases.test_capture import captured, expected, filled, rows_of
from tests.kit.databases import started

COLUMNS = ("id", "status", "note")


class Replica(MariaDb):
    """A MariaDB that logs what another one wrote, under that one's GTIDs."""

    def words_of(self, state: State) -> Sequence[str]:
        """See ``Life``: of two settings the later one counts."""
        return [*super().words_of(state), "--server-id=2", "--log-slave-updates=ON"]


@pytest.mark.waits
def test_another_server_takes_over(tmp_path: Path) -> None:
    if MariaDb(tmp_path).binary() is None:
        pytest.skip("MariaDB is not installed: apt-get install mariadb-server")
    with started(MariaDb) as (_, first), started(Replica) as (_, second):
        shop = MariaDbShop(read_address(first.url), "shop")
        shop.run("create user copier", "grant replication slave on *.* to copier")
        other = MariaDbShop(read_address(second.url), "test", stands=True)
        other.run(
            f"change master to master_host = '127.0.0.1', master_port = {first.port}, master_user = 'copier', "
            "master_use_gtid = slave_pos",
            "start slave",
        )
        filled(shop, 20)
        captured(shop, tmp_path)
        shop.run("update orders set status = 'first' where id < 5", "delete from orders where id = 6")
        captured(shop, tmp_path)
        shop.run("update orders set status = 'not captured' where id = 7")
        position = shop.rows("select @@gtid_binlog_pos")[0][0]
        assert other.rows(f"select master_gtid_wait('{position}', 60)") == [(0,)]
        os.kill(first.pid, signal.SIGKILL)
        other.run("stop slave")
        after = MariaDbShop(read_address(second.url), "shop", stands=True)
        after.run("insert into orders values (100, 'second', 'x')", "delete from orders where id = 8")
        found = captured(after, tmp_path)
        assert found.copied == {}
        assert found.position.startswith("0-2-")
        assert rows_of(after, tmp_path, "orders", *COLUMNS) == expected(after, "orders", *COLUMNS)
