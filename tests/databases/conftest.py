"""One real server of each kind for the whole test run; where its package is not installed, its tests say so."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.databases.address import Address, read_address
from freshet.dev.databases.mariadb import MariaDb
from freshet.dev.databases.postgres import Postgres
from freshet.dev.databases.server import Database
from tests.databases.shops import MariaDbShop, PostgresShop, Shop
from tests.kit.databases import started

#: What `make test` tries on a real server: the rest is for `make nightly`.
SMOKE = ("test_a_copy_and_the_log_make_the_table[postgres]", "test_a_copy_and_the_log_make_the_table[mariadb]")


# Before the queue leaves out what is marked.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to ``make nightly`` what is not of the smoke."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.name not in SMOKE:
            item.add_marker("nightly")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Database]:
    """Start a PostgreSQL, and stop it whatever happens."""
    if Postgres(Path("/nowhere")).binary() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with started(Postgres) as (_, found):
        yield found


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Database]:
    """Start a MariaDB, and stop it whatever happens."""
    if MariaDb(Path("/nowhere")).binary() is None:
        pytest.skip("MariaDB is not installed: apt-get install mariadb-server")
    with started(MariaDb) as (_, found):
        yield found


@pytest.fixture(params=["postgres", "mariadb"])
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    """Return a database of one test, empty."""
    found: Database = request.getfixturevalue(request.param)
    name = f"shop_{uuid.uuid4().hex[:8]}"
    made = (PostgresShop if request.param == "postgres" else MariaDbShop)(read_address(found.url), name)
    yield made
    made.close()


@pytest.fixture
def address(shop: Shop) -> Address:
    """Return the address of the test's database."""
    return shop.address
