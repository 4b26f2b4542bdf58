"""What `make test` leaves to the night: of tests that differ by the table type alone one stays, and never none."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.kit.nightly import NIGHTLY
from tests.kit.queue import for_the_night


@dataclass(frozen=True)
class Item:
    """What the queue asks of a test."""

    nodeid: str
    marked: bool = False

    @property
    def name(self) -> str:
        return self.nodeid.rpartition("::")[2]

    @property
    def originalname(self) -> str:
        return self.name.partition("[")[0]

    def get_closest_marker(self, name: str) -> object:
        return name if self.marked else None


def left(*items: Item) -> list[str]:
    """Return the tests that stay."""
    night = {item.nodeid for item in for_the_night(list(items))}  # type: ignore[arg-type]
    return [item.nodeid for item in items if item.nodeid not in night]


@pytest.mark.parametrize("name", [f"test_{letter}" for letter in "abcdef"])
@pytest.mark.parametrize("other", ["cow", "mor"])
def test_of_two_of_which_one_is_for_the_night_the_other_stays(name: str, other: str) -> None:
    items = [Item(f"tests/x/test_x.py::{name}[{kind}]", marked=kind == other) for kind in ("cow", "mor")]
    assert left(*items) == [item.nodeid for item in items if not item.marked]


def test_of_two_one_stays_and_of_products_all_do() -> None:
    twins = [Item(f"tests/checks/test_publishing.py::test_what_is_written[{kind}-a]") for kind in ("cow", "mor")]
    cells = [Item(f"tests/checks/test_publishing.py::test_publishing[upsert-{kind}-BUCKET-first]") for kind in ("cow", "mor")]
    assert len(left(*twins)) == 1
    assert left(*twins, *cells)[1:] == [cell.nodeid for cell in cells]


def test_what_is_named_goes_whole_or_by_its_case() -> None:
    whole = next(name for name in NIGHTLY if "[" not in name)
    case = next(name for name in NIGHTLY if name.endswith("[cow]"))
    assert left(
        Item(f"tests/x/test_x.py::{whole}[a]"), Item(f"tests/x/test_x.py::{case}"), Item("tests/x/test_x.py::test_y")
    ) == ["tests/x/test_x.py::test_y"]
