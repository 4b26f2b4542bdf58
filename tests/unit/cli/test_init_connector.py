"""``freshet init --connector``: a connector's config and the pipelines of its topics, which are a project that validates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freshet.cli import init_database
from freshet.connect.check import check, sorted_out
from freshet.databases.address import Kind
from freshet.databases.model import Base, DbColumn, DbTable
from freshet.types.columns import Atomic
from tests.kit.catalogue import mariadb_column, postgres_column
from tests.unit.cli.conftest import Freshet, parsed


class Catalogue:
    """A database that has tables, and is asked for nothing else."""

    def __init__(self, tables: tuple[DbTable, ...], position: str) -> None:
        self._tables, self._position = tables, position

    def tables(self) -> tuple[DbTable, ...]:
        return self._tables

    def now(self) -> Base:
        return Base(position=self._position, number=1)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the database have a table that is read but for a column, one of an odd name, one whose key is not read."""
    position = ["0/1"]

    def source(kind: Kind, one: DbColumn, odd: DbColumn) -> Catalogue:
        schema = "public" if kind == "postgresql" else "shop"
        key = DbColumn(name="id", declared="bigint", type=Atomic("bigint"), base="int8", nullable=False)
        tables = (
            DbTable(schema=schema, name="orders", columns=(key, one, odd), key=("id",)),
            DbTable(schema=schema, name="odd keys", columns=(key, one), key=("id",)),
            DbTable(schema=schema, name="spots", columns=(odd, one), key=(odd.name,)),
        )
        return Catalogue(tables, position[0])

    def opened(address: object, *_: object) -> Catalogue:
        if "postgresql" in str(address):
            at = postgres_column("timestamp", digits=6, name="at")
            return source("postgresql", at, postgres_column("point", name="spot"))
        return source("mariadb", mariadb_column("bigint(20) unsigned", name="at"), mariadb_column("bit(9)", 9, name="spot"))

    monkeypatch.setattr(init_database, "open_source", opened)
    return position


@pytest.mark.parametrize(
    ("address", "schema", "reference", "coded"),
    [
        ("postgresql://cdc@db-1/shop", "public", "{kind: lsn}", '"at": {"times": "micros"}'),
        ("mysql://cdc@db-1/shop", "shop", "{kind: mariadb_gtid, domain: 7}", '"at": {"unsigned": true}'),
    ],
)
def test_a_connector_and_its_pipelines_are_written_and_validate(
    freshet: Freshet,
    catalogue: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    schema: str,
    reference: str,
    coded: str,
) -> None:
    catalogue[0] = "7-1-25"
    monkeypatch.setenv("SHOP_PASSWORD", "Geheim!")
    folder = tmp_path / "lake"
    how = ("--connector", "k:9092", "--password-env", "SHOP_PASSWORD", "--output", "json")
    made = parsed(freshet("init", str(folder), "--from", address, *how))
    assert [note.partition(":")[0] for note in made["notes"]] == [
        f"{schema}.orders",
        f"{schema}.odd keys cannot be captured by a connector",
        f"{schema}.spots cannot be captured by a connector",
    ]
    config = json.loads((folder / "configs/connectors/shop.json").read_text())
    assert sorted_out(check(config)).wrong == ()
    assert config["table.include.list"] == rf"{schema}\.orders"
    assert config["column.exclude.list"] == rf"{schema}\.orders\.spot"
    pipeline = (folder / "pipelines/shop_orders.yml").read_text()
    assert f"reference_key: {reference}" in pipeline
    assert coded in pipeline
    assert f'hoodie.streamer.source.kafka.topic: "shop.{schema}.orders"' in pipeline
    assert "spot" not in (folder / "ddl/shop_orders.sql").read_text()
    assert not list((folder / "configs").glob("ingest*"))
    assert all("Geheim" not in path.read_text() for path in folder.rglob("*") if path.is_file())
    assert "freshet connector check configs/connectors/shop.json" in made["steps"]
    assert freshet("validate", "-C", str(folder)).exit_code == 0


def test_a_log_of_several_domains_has_no_order(freshet: Freshet, catalogue: list[str], tmp_path: Path) -> None:
    catalogue[0] = "0-1-25,1-1-7"
    result = freshet("init", str(tmp_path / "lake"), "--from", "mysql://cdc@db-1/shop", "--connector", "k:9092")
    assert (result.exit_code, "DATABASE_UNFIT" in result.stderr + result.stdout) == (1, True)
    assert not (tmp_path / "lake").exists()


def test_a_connector_is_of_a_database(freshet: Freshet, tmp_path: Path) -> None:
    assert freshet("init", str(tmp_path), "--connector", "k:9092").exit_code == 2
