"""PostgreSQL's messages, decoded: as PostgreSQL 15 wrote them, and cut short."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from freshet.databases.model import Change, Emptied, End, Shape, Transaction
from freshet.databases.postgres.pgoutput import UNCHANGED, Begin, Commit, Relation, Row, Truncate, decode
from freshet.databases.postgres.told import told_by

RECORDED = [bytes.fromhex(one) for one in json.loads((Path(__file__).parent / "pgoutput.json").read_text())]
TYPES = {23: "int4", 25: "text", 1700: "numeric", 17: "bytea", 1184: "timestamptz", 16: "bool", 701: "float8", 1007: "_int4"}


def test_what_was_recorded() -> None:
    found = [decode(one) for one in RECORDED]
    assert [type(one).__name__ for one in found].count("Begin") == 5
    assert found[0] == Begin(0x1571148, 1795756399020)
    assert found[2] == Commit(0x1571178)
    relation = found[1]
    assert isinstance(relation, Relation)
    assert (relation.schema, relation.name, relation.identity) == ("public", "t", "d")
    assert relation.columns[:2] == (("id", 23, True), ("n", 1700, False))
    update, moved = (one for one in found if isinstance(one, Row) and one.new is not None and UNCHANGED in one.new)
    assert (update.old, update.new[:3]) == (None, ("1", "2.00", UNCHANGED))  # type: ignore[index]
    assert moved.old is not None
    assert (moved.old[:2], moved.old_is_key, moved.new[0]) == (("1", None), True, "2")  # type: ignore[index]
    deleted = next(one for one in found if isinstance(one, Row) and one.new is None)
    assert (deleted.old[0], deleted.old_is_key) == ("5", True)  # type: ignore[index]
    assert found[-2] == Truncate((relation.id,))


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_a_message_that_is_cut_is_none(number: int) -> None:
    message = RECORDED[number]
    for end in range(len(message)):
        with pytest.raises(ValueError, match="pgoutput"):
            decode(message[:end])
    with pytest.raises(ValueError, match="nothing reads"):
        decode(message + b"x")


def test_what_nobody_knows_is_no_change() -> None:
    with pytest.raises(ValueError, match="unknown kind 'S'"):
        decode(b"S" + bytes(20))
    assert decode(b"Y" + struct.pack(">I", 1) + b"public\0mood\0") is None


def told(after: int = 0, key: tuple[str, ...] = ("id",)) -> list[Any]:
    return list(told_by(iter(RECORDED), after, TYPES, {"public.t": key}))


def test_changes_have_their_place_and_a_new_key_is_two() -> None:
    found = told()
    changes = [one for one in found if isinstance(one, Change)]
    assert [(one.row["id"], one.deleted, one.within) for one in changes] == [
        (1, False, 1),
        (1, True, 1),
        (2, False, 1),
        (5, False, 1),
        (6, False, 2),
        (7, False, 1),
        (5, True, 2),
    ]
    assert changes[0].left_out == ("b",)
    assert (changes[0].row["n"], changes[0].row["j"], changes[0].row["a"]) == ("2.00", '{"a": 1}', [1, 2])
    assert "its key was changed" in changes[2].error, "the log does not have what the new row is"
    assert [one for one in found if isinstance(one, Emptied)] == [Emptied(table="public.t")]
    numbers = [one.number for one in found if isinstance(one, Transaction)]
    assert numbers == sorted(numbers)
    shapes = [one.columns[-1] for one in found if isinstance(one, Shape)]
    assert shapes[1] == "city"


def test_what_was_captured_is_passed_over_and_tables_are_known_all_the_same() -> None:
    ends = [one.number for one in told() if isinstance(one, End)]
    later = told(after=ends[2])
    assert [one.number for one in later if isinstance(one, End)] == ends[3:]
    assert [one.row["id"] for one in later if isinstance(one, Change)] == [5, 6, 7, 5]
    assert not [one for one in told_by(iter(RECORDED), 0, TYPES, {"public.other": ("id",)}) if isinstance(one, Change)]
