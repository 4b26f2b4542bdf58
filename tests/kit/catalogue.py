"""Columns as the catalogues of databases have them, without a database."""

from __future__ import annotations

from freshet.databases.mariadb.values import lake_type as of_mariadb
from freshet.databases.model import DbColumn
from freshet.databases.postgres.values import lake_type as of_postgres
from freshet.types.columns import Atomic


def postgres_column(base: str, modifier: int = -1, digits: int = -1, name: str = "x") -> DbColumn:
    """Return a column of PostgreSQL, by the name of its type in ``pg_type``."""
    type_, note = of_postgres("" if base == "enum" else base, modifier)
    return DbColumn(name=name, declared=base, type=type_, note=note, base=base, digits=digits)


def mariadb_column(declared: str, precision: int | None = None, digits: int = -1, name: str = "x") -> DbColumn:
    """Return a column of MariaDB, by its type as it is declared."""
    base = declared.partition("(")[0].partition(" ")[0]
    type_, note = of_mariadb(base, declared, precision, 0)
    return DbColumn(name=name, declared=declared, type=type_ or Atomic("string"), note=note, base=base, digits=digits)
