"""Which files the rows of a version lie in, by the commits' metadata: what of them is gone or cut is a fault of the table.

Of the kind: whatever may rightly be gone, which must not be asked for: older slices, replaced groups, logs under a compaction,
what came later than the version, what was archived.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from freshet.errors import FreshetError
from freshet.hudi.table import TableState
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.read.footers import below, highest
from freshet.sources.hudi.read.missing import hold_version
from freshet.sources.hudi.read.slices import newest_files
from freshet.sources.hudi.reads import NEVER, Version
from tests.kit.memory import Loaded, a_commit, a_table_state, at

ONE, TWO = "d/00000001-aa-0", "d/00000002-bb-0"
LATEST = Version("")


def wrote(completed: int, group: str = ONE, *, log: bool = False, requested: int | None = None, **info: object) -> Loaded:
    """Return a commit that wrote one file, of as many bytes as its moment's number."""
    begun = at(completed - 1 if requested is None else requested)
    folder, _, group_id = group.rpartition("/")
    name = f".{group_id}_{begun}.log.1_0-1-1" if log else f"{group_id}_0-1-1_{begun}.parquet"
    return a_commit(
        completed,
        requested,
        action="deltacommit" if log else "commit",
        file_ids=(group,),
        files=((f"{folder}/{name}", completed),),
        **info,
    )  # type: ignore[arg-type]


def sizes(*commits: Loaded, version: Version = LATEST, archived: tuple[Loaded, ...] = (), **more: object) -> list[int]:
    table = a_table_state(commits, archived=archived, table_type="MERGE_ON_READ")
    return [size for _, size in newest_files(table, version, **more)]  # type: ignore[arg-type]


REPLACED = a_commit(
    50,
    action="replacecommit",
    operation="CLUSTER",
    file_ids=(TWO,),
    replaced_ids=(ONE,),
    files=((f"{TWO}_0-1-1_{at(49)}.parquet", 50),),
)


@pytest.mark.parametrize(
    ("commits", "version", "expected"),
    [
        ([wrote(10), wrote(20)], LATEST, [20]),
        ([wrote(10), wrote(20, TWO)], LATEST, [20, 10]),
        ([wrote(10), wrote(20, log=True), wrote(30, log=True)], LATEST, [30, 20, 10]),
        ([wrote(20, log=True)], LATEST, [20]),
        ([wrote(10), wrote(20, log=True), wrote(30, operation="COMPACT"), wrote(40, log=True)], LATEST, [40, 30]),
        # One that completed after the compaction was planned is no part of what that merged.
        ([wrote(10), wrote(35, log=True, requested=20), wrote(40, requested=30, operation="COMPACT")], LATEST, [40, 35]),
        ([wrote(10), wrote(20, log=True), REPLACED], LATEST, [50]),
        ([wrote(10), wrote(20, log=True), REPLACED], Version(at(40)), [20, 10]),
        ([wrote(10), wrote(20)], Version(at(12)), [10]),
        ([wrote(10), wrote(30, requested=20), wrote(40, TWO, requested=15)], Version(at(11), (at(20),)), [30]),
        ([wrote(10)], Version(NEVER), []),
        # Writers that do not wait for each other give the groups of all partitions the same ids.
        ([wrote(10, "e/00000001-aa-0"), wrote(20, "e/00000001-aa-0", log=True), wrote(30)], LATEST, [30, 20, 10]),
        ([a_commit(10)], LATEST, []),
    ],
)
def test_the_files_of_a_version(commits: list[Loaded], version: Version, expected: list[int]) -> None:
    assert sizes(*commits, version=version) == expected


def test_of_some_groups_and_of_what_the_archive_left() -> None:
    assert sizes(wrote(10), wrote(20, TWO), groups=(TWO,)) == [20]
    assert sizes(wrote(20, log=True), archived=(wrote(10),)) == [20]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("INSERT_OVERWRITE", [50, 40, 20]),
        ("DELETE_PARTITION", [50, 40, 20]),
        ("INSERT_OVERWRITE_TABLE", [50, 40]),
        ("UPSERT", [50, 40, 30, 20, 10]),
    ],
)
def test_what_was_lost_before_a_partition_was_written_anew_is_asked_for_no_more(operation: str, expected: list[int]) -> None:
    """Hudi names as replaced what it lists: a lost file would be asked for until its commit is archived."""
    overwrite = wrote(40, "d/00000003-cc-0", operation=operation, partitions=("d",))
    commits = (wrote(10), wrote(20, "e/00000001-aa-0"), wrote(30, log=True), overwrite, wrote(50, "d/00000003-cc-0", log=True))
    assert sizes(*commits) == expected


@pytest.mark.parametrize(("there", "code"), [(10, ""), (9, "FILE_CORRUPT"), (None, "SOURCE_CHANGED_UNDER_READ")])
def test_a_version_is_held(tmp_path: Path, there: int | None, code: str) -> None:
    """The timeline is asked again for what is missing: here there is none any more, as of a table that was dropped."""
    (tmp_path / "d").mkdir()
    commit = wrote(10)
    table = a_table_state([commit], ref=TableRef("raw.trips", str(tmp_path)))
    if there is not None:
        (tmp_path / commit[1].files[0][0]).write_bytes(b"x" * there)

    def held(state: TableState) -> None:
        hold_version(state, LATEST, "Nothing was written.")

    hold_version(table, LATEST, "Nothing was written.", lambda state, folder: folder != "d")
    if code:
        with pytest.raises(FreshetError) as refused:
            held(table)
        assert refused.value.code == code
    else:
        held(table)


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
@pytest.mark.parametrize("folder", ["d=1/e=2", ""])
def test_the_base_files_below_some_logs(tmp_path: Path, scheme: str, folder: str) -> None:
    """Of the same groups and partitions, of any version; a table's path may be a part of its parent's name."""
    root = tmp_path / "a lake" / "trips"
    place = root / folder
    place.mkdir(parents=True)
    mine, other = "00000001-aa-0", "00000002-bb-0"
    names = [f"{mine}_0-1-1_{at(9)}.parquet", f"{mine}_0-1-1_{at(19)}.parquet"]
    others = (f"{other}_0-1-1_{at(9)}.parquet", f".{mine}_{at(29)}.log.1_0-1-1", f".{names[0]}.crc", ".hoodie_partition_meta")
    for name in (*names, *others):
        (place / name).touch()
    found = below(TableRef("raw.trips", str(root)), [f"{scheme}{place}/.{mine}_{at(29)}.log.1_0-1-1"])
    assert sorted(Path(file.removeprefix(scheme)) for file in found) == [place / name for name in names]
    with pytest.raises(ValueError, match="no log of"):
        below(TableRef("raw.trips", str(root)), [f"/elsewhere/.{mine}_{at(29)}.log.1_0-1-1"])


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (([1, 7], [3]), pa.int64(), 7),
        (([1, None], [3]), pa.int32(), 3),
        (([1], [None]), pa.int64(), None),
        ((), pa.int64(), -1),
        (([-5],), pa.int64(), -1),
        (([1_700_000_000_123_456],), pa.timestamp("us", "UTC"), 1_700_000_000_123_456),
        (([4], "no footer"), pa.int64(), None),
        (([4], "gone"), pa.int64(), None),
    ],
    ids=["highest", "some null", "all null", "no file", "negative", "time", "being written", "cleaned"],
)
def test_the_highest_number_of_a_column(tmp_path: Path, values: tuple[Any, ...], kind: Any, expected: int | None) -> None:
    files = [tmp_path / f"{number}.parquet" for number in range(len(values))]
    for file, one in zip(files, values, strict=True):
        if isinstance(one, list):
            table = pa.table({"id": ["a"] * len(one), "meta": [{"ts": 99}] * len(one), "ts": pa.array(one, kind)})
            parquet.write_table(table, file, row_group_size=2)
        elif one == "no footer":
            file.write_bytes(b"PAR1 and no more")
    # The session is for what lies elsewhere.
    assert highest(None, [f"file:{file}" for file in files], "ts") == expected  # type: ignore[arg-type]
