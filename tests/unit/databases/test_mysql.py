"""MySQL, whose log is another one than MariaDB's, is refused before anything is asked of it, with what to use instead."""

from __future__ import annotations

from typing import Any

import pytest

from freshet.databases.address import read_address
from freshet.databases.mariadb import source as module
from freshet.databases.source import open_source
from freshet.errors import FreshetError


class MySql:
    def __init__(self, address: Any) -> None:
        self.closed = False

    def rows(self, sql: str) -> list[tuple[str]]:
        return [("8.4.3",)]

    def close(self) -> None:
        self.closed = True


def test_it_is_refused_with_the_way_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[MySql] = []
    monkeypatch.setattr(module, "Connection", lambda address: opened.append(MySql(address)) or opened[0])
    with pytest.raises(FreshetError) as error:
        open_source(read_address("mysql://cdc@db/shop"), "freshet_shop", 1.0)
    assert error.value.code == "DATABASE_UNFIT"
    assert all(words in str(error.value) for words in ("8.4.3", "Debezium on Kafka Connect", "docs/guides/changelog.md"))
    assert opened[0].closed
