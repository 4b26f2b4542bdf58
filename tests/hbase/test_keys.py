"""Record keys of every kind, through runs, a rebuild of the index and its verification."""

from __future__ import annotations

import pytest

from freshet.index.hbase.building import Layout
from tests.kit.hbase import HBaseLake
from tests.kit.lake import SCHEMA, Row, rows

KEYS = (
    "plain",
    "ü",
    "日本",
    "\ufb01n",
    "\uff5a: before what follows in UTF-8, and after it in UTF-16",
    "\U0001f600",
    "\U00010000",
    "a\U0001f600b",
    "a\uffeeb",
    " ",
    "\t",
    "  two",
    "a:b",
    "a,b",
    "a:b,c:d",
    "id:a",
    "'quote\" and \\",
    "x" * 1024,
    "ü" * 512,
    "%00",
    "line\nbreak",
    "_hoodie",
    "null",
    "0",
)
# So small that a few entries fill one: the regions begin at keys of every kind.
SMALL = Layout(hfile_bytes=150)
COMPOSITE = """\
CREATE TABLE derived.copy (
  id STRING NOT NULL,
  kind STRING NOT NULL,
  ts BIGINT NOT NULL,
  amount DECIMAL(10,2),
  day STRING NOT NULL
) USING hudi PARTITIONED BY (day)
TBLPROPERTIES (primaryKey = 'id,kind', preCombineField = 'ts', type = '{kind}')
"""


def test_any_text_is_a_key(hlake: HBaseLake) -> None:
    hlake.pipeline(table_type="mor")
    hlake.land(rows(*((key, 1, "1") for key in KEYS)))
    hlake.run_ok()
    assert set(hlake.entries()) == set(KEYS)
    hlake.land(rows(*((key, 2, "2") for key in KEYS[::2])))
    assert hlake.run_ok().inserts == 0
    hlake.agree()

    made = hlake.rebuild(layout=SMALL)
    assert made.entries == len(KEYS)
    assert made.hfiles > 4
    hlake.agree()
    verified = hlake.verify()
    assert (verified.agrees, verified.rows) == (True, len(KEYS))

    # The entries that were loaded are found: half of the keys move, and no key is new.
    hlake.land(rows(*((key, 3, "3") for key in KEYS[::2]), day="2026-01-06"))
    hlake.land(rows(*((key, 4, "4") for key in KEYS[1::2])))
    hlake.run_ok()
    expected = rows(*((key, 3, "3") for key in KEYS[::2]), day="2026-01-06") + rows(*((key, 4, "4") for key in KEYS[1::2]))
    assert hlake.rows() == sorted(expected, key=str)
    hlake.agree()
    assert hlake.verify().agrees


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_a_key_of_two_columns(hlake: HBaseLake, kind: str) -> None:
    def pairs(ts: int, amount: str, *keys: str, day: str = "2026-01-05") -> list[Row]:
        return rows(*((key, ts, amount) for key in keys), day=day)

    hlake.pipeline(sql="SELECT split(id, '/')[0] AS id, split(id, '/')[1] AS kind, ts, amount, day FROM <SRC>")
    hlake.write_file("ddl/copy.sql", COMPOSITE.format(kind=kind))
    keys = ("a/x", "a/y", "b/x", "a:b/c", "a,b/ü", " / ")
    hlake.land(pairs(1, "1", *keys), schema=SCHEMA)
    hlake.run_ok()
    hlake.rebuild(layout=SMALL)
    hlake.land(pairs(2, "2", "a/y", "a:b/c", day="2026-01-06") + pairs(2, "2", "a,b/ü", " / "))
    assert hlake.run_ok().error is None
    expected = {"a/x": 1, "a/y": 2, "b/x": 1, "a:b/c": 2, "a,b/ü": 2, " / ": 2}
    found = hlake.rows("derived.copy", "id", "kind", "ts")
    assert {f"{one}/{two}": ts for one, two, ts in found} == expected
    assert len(found) == len(expected)
    assert "id:a,kind:x" in hlake.entries()
    hlake.agree()
    assert hlake.verify().agrees
