"""Addresses of databases, which hold no password."""

from __future__ import annotations

import pytest

from freshet.databases.address import read_address
from freshet.errors import FreshetError


def test_an_address_is_read_and_shows_no_password() -> None:
    found = read_address("mysql://me%40home@db-1/shop", "s3cret")
    assert (found.kind, found.host, found.port, found.user, found.database) == ("mariadb", "db-1", 3306, "me@home", "shop")
    assert found.password == "s3cret"
    assert "s3cret" not in f"{found} {found!r}"
    assert read_address("postgresql://me@127.0.0.1:15432/shop").port == 15432


@pytest.mark.parametrize("text", ["postgresql://me%40home@[::1]:5432/a%23c", "postgresql://a%3Ab@db:5432/100%25"])
def test_an_address_that_is_written_is_read_as_it_was(text: str) -> None:
    found = read_address(text)
    assert (str(found), read_address(str(found))) == (text, found)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:s3cret@db/shop",
        "oracle://me@db/shop",
        "postgresql://me@db",
        "postgresql://db/shop",
        "postgresql://me@db/shop/more",
        "postgresql://me@db:port/shop",
        "postgresql://me@db/shop?password=s3cret",
        "shop",
    ],
)
def test_one_that_cannot_be_used_is_refused_without_its_words(text: str) -> None:
    with pytest.raises(FreshetError) as error:
        read_address(text)
    assert error.value.code == "BAD_ADDRESS"
    assert "s3cret" not in str(error.value)
