"""Files of source and target tables cut, garbled or gone: an error of ours, and after the repair what a recompute gives.

The twin without Spark draws many more, over the project's files too: tests/unit/cli/test_garbled_project.py.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.kit.lake import RECORD_INDEX, Lake, rows

_PART = st.floats(0, 1, exclude_max=True)
EXAMPLES = int(os.environ.get("FRESHET_EXAMPLES", "1"))


def _files(lake: Lake) -> list[Path]:
    """Return the tables' own files: what holds rows, commits and settings; no checksums, markers or plans."""
    found = [path for table in ("raw/events", "derived/copy") for path in (lake.root / table).rglob("*") if path.is_file()]
    return sorted(
        path
        for path in found
        if not path.name.endswith((".crc", ".requested", ".inflight")) and not {".temp", ".aux", ".freshet"} & set(path.parts)
    )


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", ["files", "record_index"])
def test_a_garbled_file_of_the_metadata_table_loses_no_row(lake: Lake, part: str) -> None:
    """By the list of files Hudi finds what to read, and by the record index where a key's row is: one byte, at several places.

    Nothing is checked before: the blocks have no checksum that Hudi verifies. Either it cannot be read, and is said, or what is
    read is right.
    """
    lake.pipeline(hoodie={**RECORD_INDEX, "hoodie.metadata.enable": "true"})
    lake.land(rows(*((f"k{n}", 1, "1") for n in range(40))))
    lake.run_ok()
    folder = lake.root / "derived/copy/.hoodie/metadata" / part
    # Of an index that was begun with no row that is a log, whose one block is such a file.
    held = [one for one in folder.iterdir() if one.suffix != ".crc" and ("hfile" in one.suffix or ".log." in one.name)]
    (path, *_) = sorted(held, key=lambda one: -one.stat().st_size)
    whole, crc = path.read_bytes(), path.with_name(f".{path.name}.crc")
    ts, said = 1, []
    for place in (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        crc.unlink(missing_ok=True)
        at = int(place * len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        ts += 1
        lake.land(rows(("k1", ts, "5"), (f"n{ts}", ts, "6")))
        result = lake.run()
        said.append((place, result.error.code if result.error else "read"))
        assert result.error is None or result.error.code != "UNEXPECTED_ERROR", (said, result.error)
        if path.exists():
            path.write_bytes(whole)
        after = lake.run()
        assert after.error is None, (said, after.error)
        assert lake.rows() == lake.rows("raw.events"), said


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@settings(
    max_examples=12 * EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 1,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_what_is_damaged_is_said_and_after_the_repair_no_row_is_missing(lake: Lake, data: st.DataObject) -> None:
    lake = Lake(lake.spark, Path(tempfile.mkdtemp(dir=lake.root)))
    kind = {"hoodie.datasource.write.table.type": data.draw(st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]))}
    lake.pipeline(table_type=data.draw(st.sampled_from(["cow", "mor"])))
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")), **kind)
    lake.run_ok()
    lake.land(rows(("a", 2, "2"), ("c", 1, "1")), **kind)
    files = _files(lake)
    # By parts of a whole: names and sizes differ from one example to the next.
    path = files[int(data.draw(_PART) * len(files))]
    whole = path.read_bytes()
    crc = path.with_name(f".{path.name}.crc")
    sums = crc.read_bytes() if crc.exists() else None
    content = bytearray(whole)
    how = data.draw(st.sampled_from(["cut", "garble", "gone"]))
    if how == "gone" and "timeline" in path.parts and "derived" in path.parts:
        # Without its file a commit of the target is an unfinished one, which the next write takes back.
        how = "cut"
    if how == "cut":
        del content[int(data.draw(_PART) * len(content)) :]
    elif how == "garble":
        place = int(data.draw(_PART) * len(content))
        content[place : place + 8] = b"\x00garbage"
    if how == "gone":
        path.unlink()
        crc.unlink(missing_ok=True)
    else:
        path.write_bytes(bytes(content))
    result = lake.run()
    said = (path, how, result.error)
    assert result.error is None or (result.error.code != "UNEXPECTED_ERROR" and "\n" not in result.error.message), said
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(whole)
    if sums is not None:
        crc.write_bytes(sums)
    after = lake.run()
    assert after.error is None, (*said, after.error)
    assert lake.rows() == lake.rows("raw.events"), said
