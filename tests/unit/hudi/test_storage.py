"""Hadoop and Hudi escape nothing in a path, so that a URI of a table is text: what is parsed as one is its root alone.

Of the kind: whatever joins a table's base with names out of its timeline, or takes a file's URI apart, local or remote.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.errors import StateError
from freshet.project.model.pipeline import TableRef
from freshet.sources.hudi.read import footers, missing
from freshet.sources.hudi.reads import Version
from freshet.storage import files as storage
from freshet.storage.files import ArrowStorage, is_local, local_path
from freshet.storage.remote import ProcessStorage, remote_storage
from tests.kit.memory import a_commit, a_table_state, at
from tests.kit.timeline import OF_A_PIPELINE, HandMade

# Hive style and not, url-encoded by Hudi and not, and what only looks as if it were.
FOLDERS = (
    "city=New York",
    "city=São Paulo",
    "Zürich",
    "a|b",
    "50%",
    "share=50%25",
    "city=New%20York",
    "a#b",
    "a?b=c&d",
    "a;b",
    "at=10:30",
    "a+b",
    "[x]{y}",
    "a\\b",
    "a=1/b=2 3",
    "",
)
BASES = ("a lake/trips", "50% #1/tri?ps")
GROUP = "00000001-aa-0"


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_names_are_no_part_of_a_uri(tmp_path: Path, base: str, folder: str) -> None:
    root = f"file://{tmp_path}/{base}"
    store = ArrowStorage(root)
    place = f"{root}/{folder}"
    assert (store.names(place), store.sizes(place)) == ([], {})
    with pytest.raises(FileNotFoundError):
        store.read(f"{place}/one")
    store.put(f"{place.rstrip('/')}/one", b"12345")
    assert (tmp_path / base / folder / "one").read_bytes() == b"12345"
    assert (store.names(place), store.sizes(f"{place}/")) == (["one"], {"one": 5})
    assert store.read(f"{place.rstrip('/')}/one") == b"12345"
    assert [store.read_part(f"{place.rstrip('/')}/one", begin, 3) for begin in (0, 1, 4)] == [b"123", b"234", b"5"]
    store.remove(f"{place.rstrip('/')}/one")
    assert store.names(place) == []


def test_nor_in_a_process_of_its_own(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/{BASES[1]}"
    asked = remote_storage(place)
    assert isinstance(asked, ProcessStorage)
    try:
        asked.put(f"{place}/city=São Paulo/50%25", b"1")
        assert asked.sizes(f"{place}/city=São Paulo") == {"50%25": 1}
        assert [asked.read_part(f"{place}/city=São Paulo/50%25", begin, 9) for begin in (0, 1)] == [b"1", b""]
        with pytest.raises(FileNotFoundError):
            asked.read_part(f"{place}/none", 0, 9)
        assert asked.read(f"{place}/city=São Paulo/50%25") == b"1"
    finally:
        asked.end()


@pytest.mark.parametrize(
    ("uri", "base", "expected"),
    [
        ("s3a://lake/raw data/trips", "/city=New York/", "lake/raw data/trips/city=New York"),
        ("s3://lake/trips", "/50%25/a#b", "lake/trips/50%25/a#b"),
        ("s3n://lake", "", "lake"),
        ("s3://lake/", "a?b", "lake/a?b"),
        ("gs://anonymous@lake/trips", "/a|b", "lake/trips/a|b"),
        ("abfss://raw@lake.dfs.core.windows.net/trips", "/a b", "raw/trips/a b"),
        ("abfss://lake.blob.core.windows.net/raw/trips", "/a%b", "raw/trips/a%b"),
    ],
)
def test_a_path_in_a_store(monkeypatch: pytest.MonkeyPatch, uri: str, base: str, expected: str) -> None:
    # With an endpoint of its own no bucket is looked up for its region.
    for name, value in (
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AZURE_STORAGE_KEY", "eA=="),
    ):
        monkeypatch.setenv(name, value)
    assert ArrowStorage(uri)._path(uri + base) == expected


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("/lake/a:b", "/lake/a:b"),
        ("//[lake/x", "//[lake/x"),
        ("/lake/a#b?c;d", "/lake/a#b?c;d"),
        ("file:/lake/a#b/c", "/lake/a#b/c"),
        ("file:///lake/a?b/50%25", "/lake/a?b/50%25"),
        ("file://host/lake", "/lake"),
        ("s3a://lake/a#b", ""),
        ("hdfs:/lake", ""),
        ("abfss://c@a.dfs.core.windows.net/x", ""),
    ],
)
def test_a_path_of_the_machines_own(path: str, local: str) -> None:
    assert is_local(path) == bool(local)
    assert local_path(path) == (local or path)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_version_is_held_and_the_files_below_a_log_are_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
) -> None:
    """The callers, as over a store: each run looks there, whatever the partition's name."""
    for module in (storage, missing, footers):
        monkeypatch.setattr(module, "local_path", lambda path: path)
    for module in (missing, footers):
        monkeypatch.setattr(module, "storage_for", ArrowStorage)
    root = tmp_path / "a lake"
    HandMade(root, OF_A_PIPELINE)
    table = TableRef("raw.trips", f"file://{root}")
    name = f"{folder}/{GROUP}_0-1-1_{at(9)}.parquet".removeprefix("/")
    (root / folder).mkdir(exist_ok=True, parents=True)
    (root / name).write_bytes(b"x" * 9)
    state = a_table_state([a_commit(10, file_ids=(f"{folder}/{GROUP}",), files=((name, 9),))], ref=table)
    missing.hold_version(state, Version(""), "Nothing was written.")
    log = f"{table.path}/{folder}/.{GROUP}_{at(19)}.log.1_0-1-1".replace("lake//", "lake/")
    assert footers.below(table, [log]) == [f"{table.path}/{name}"] if folder else footers.below(table, [log])
    (root / name).write_bytes(b"x" * 8)
    with pytest.raises(StateError) as refused:
        missing.hold_version(state, Version(""), "Nothing was written.")
    assert refused.value.code == "FILE_CORRUPT"
