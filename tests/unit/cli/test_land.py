"""``freshet land`` before Spark starts: which files, which table, and what is refused by the names alone."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from freshet.errors import DataError, FreshetError
from freshet.events.kinds import Notice
from freshet.hudi.checkpoint import INDEX_KEY, ORIGIN_KEY, PIPELINE_KEY
from freshet.hudi.kept_texts import LANDED_KEY
from freshet.landing.files import find_files
from freshet.landing.outcome import Landed
from freshet.landing.run_seeds import digest_of
from freshet.landing.seeds import Seed, delimiter_of, read_seeds
from freshet.lease.local import hold_lease
from freshet.problems import Problems
from freshet.project.model.pipeline import TableRef
from tests.kit.project import DDL, a_project
from tests.kit.timeline import OF_A_PIPELINE, HandMade, a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed

HEAD = b"id,amount,updated_at\n"
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "r",
        "fields": [{"name": name, "type": ["null", "string"]} for name in ("id", "amount", "updated_at")],
    }
)
LANDED = {
    PIPELINE_KEY: "raw.landed",
    ORIGIN_KEY: "landing",
    "schema": SCHEMA,
    INDEX_KEY: json.dumps({"type": "BUCKET", "parameters": {"hoodie.bucket.index.num.buckets": "1"}}),
}


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to start Spark."""

    def asked(*words: object, **more: object) -> None:
        raise FreshetError("SPARK_ASKED", "Spark was asked for.")

    monkeypatch.setattr("freshet.landing.work.plain_session", asked)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], str]:
    """Return a function that writes a file to the current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def write(name: str, data: bytes) -> str:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        return name

    return write


def refusal(freshet: Freshet, *words: str) -> tuple[str, int, dict[str, Any]]:
    done = freshet("land", *words, "--output", "json")
    error = parsed(done)["error"]
    return error["code"], done.exit_code, error


FILES = {
    "a.csv": HEAD + b"1,2,3\n",
    "b.csv": b"updated_at,ID,amount\n",
    "other.csv": b"id,price,updated_at\n",
    "empty.csv": b"",
    "blank.csv": b"\xef\xbb\xbf\r\n \r\n",
    "latin.csv": b"id,caf\xe9\n",
    "utf16.csv": "id,b\n".encode("utf-16"),
    "twice.csv": b"id,b,ID\n",
    "unnamed.csv": b"id,,b\n",
    "semi.csv": b"id;b;c\n1;2;3\n",
    "quote.csv": b'id,"b\n',
    "broken.csv.gz": gzip.compress(os.urandom(999))[:12] + b"\xff" * 99,
    "broken.csv.bz2": b"BZh9" + b"\xff" * 99,
    "packed.csv": gzip.compress(HEAD),
    "torn.csv.gz": gzip.compress(HEAD * 99)[:30],
    "a.json": b'{"id": 1}\n',
    "a.txt": HEAD,
    "no.parquet": b"PAR1nothing",
    "empty/.hidden.csv": HEAD,
    "odd/readme.md": b"x",
    "good/a.csv.gz": gzip.compress(HEAD),
    "good/_SUCCESS": b"",
    "good/notes.md": b"x",
}


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["nix.csv"], "FILE_NOT_FOUND"),
        (["*.nix"], "NO_FILES"),
        (["empty"], "NO_FILES"),
        (["odd"], "NO_FILES"),
        (["s3://bucket/a.csv"], "FILE_NOT_LOCAL"),
        (["/dev/null"], "FILE_UNREADABLE"),
        (["a.txt"], "FORMAT_UNKNOWN"),
        (["a.csv", "a.json"], "FORMATS_DIFFER"),
        (["a.csv", "empty.csv"], "FILE_EMPTY"),
        (["blank.csv"], "FILE_EMPTY"),
        (["latin.csv"], "NOT_TEXT"),
        (["utf16.csv"], "NOT_TEXT"),
        (["twice.csv"], "HEADER_WRONG"),
        (["unnamed.csv"], "HEADER_WRONG"),
        (["semi.csv"], "HEADER_WRONG"),
        (["packed.csv"], "FILE_PACKED"),
        (["torn.csv.gz"], "FILE_UNREADABLE"),
        (["broken.csv.gz"], "FILE_UNREADABLE"),
        (["broken.csv.bz2"], "FILE_UNREADABLE"),
        (["x" * 300 + ".csv"], "FILE_UNREADABLE"),
        (["x" * 300 + "*.csv"], "FILE_UNREADABLE"),
        (["a\0.csv"], "FILE_NOT_FOUND"),
        (["no.parquet"], "FILE_UNREADABLE"),
        (["a.csv", "other.csv"], "FILES_DIFFER"),
        (["ns.parquet"], "UNSUPPORTED_TYPE"),
    ],
)
def test_files_that_cannot_be_landed(here: Callable[[str, bytes], str], names: list[str], code: str) -> None:
    """Each kind of file that a shell, an export or a person may hand over; none of them reaches Spark."""
    for name, data in FILES.items():
        here(name, data)
    parquet.write_table(pa.table({"id": [1], "at": pa.array([1], pa.timestamp("ns"))}), "ns.parquet")
    with pytest.raises(DataError) as refused:
        find_files(names)
    assert (refused.value.code, refused.value.effect) == (code, "Nothing was written.")
    assert refused.value.next_step


def test_files_that_can(here: Callable[[str, bytes], str]) -> None:
    """Patterns, folders, packed files, one file by two names, columns in another order, quotes and marks in a header."""
    for name, data in FILES.items():
        here(name, data)
    here("bom.tsv", b'\xef\xbb\xbfid\t"a\nb"\t c \r\n')
    here("list.json", b'\n [{"id": 1}]')
    assert find_files(["good"]).paths == (os.path.realpath("good/a.csv.gz"),)
    found = find_files(["[ab].csv", "./a.csv"])
    assert [group.columns for group in found.groups] == [("id", "amount", "updated_at"), ("updated_at", "ID", "amount")]
    assert found.size == len(FILES["a.csv"]) + len(FILES["b.csv"])
    tabs = find_files(["bom.tsv"])
    assert (tabs.delimiter, tabs.groups[0].columns) == ("\t", ("id", "a\nb", "c"))
    assert [group.whole for group in find_files(["a.json", "list.json"]).groups] == [False, True]
    assert find_files(["a.txt"], "csv").format == "csv"
    assert find_files(["semi.csv"], delimiter=";").groups[0].columns == ("id", "b", "c")


def test_tables_that_cannot_be_landed_in(freshet: Freshet, root: Path, here: Callable[[str, bytes], str]) -> None:
    """Whose table it is, and what it was made with: each is told before Spark is started."""
    file = here("a.csv", FILES["a.csv"])
    a_target(root, (15, 10))
    a_table(root, "raw/foreign", 10)
    HandMade(root / "data/raw/landed", OF_A_PIPELINE).done(10, commit(LANDED, numInserts=10))
    HandMade(root / "data/raw/kept", OF_A_PIPELINE).done(10, commit({**LANDED, ORIGIN_KEY: "increment", PIPELINE_KEY: "gone"}))
    for words, code, exit_code in (
        (("derived.payments", file), "TABLE_OF_A_PIPELINE", 5),
        (("raw.kept", file), "TABLE_OF_A_PIPELINE", 5),
        (("raw.foreign", file), "TABLE_NOT_LANDED", 5),
        (("raw.new", file), "TABLE_NOT_DECLARED", 5),
        (("raw.new", file, "--key", "id"), "TABLE_NOT_DECLARED", 5),
        (("new", file), "MISSING_DATABASE", 1),
        (("row.new", file), "UNKNOWN_DATABASE", 1),
        (("raw.landed", file, "--key", "amount"), "KEY_CHANGED", 5),
        (("raw.landed", file, "--ordering", "amount"), "ORDERING_CHANGED", 5),
        (("raw.landed", "nix.csv"), "FILE_NOT_FOUND", 6),
        (("raw.landed", file, "--partition-by", "amount"), "PARTITIONING_CHANGED", 5),
        (("raw.landed", file, "--type", "mor"), "TABLE_TYPE_CHANGED", 5),
        (("raw.landed", file, "--columns", "amount INT"), "COLUMN_CHANGED", 5),
        (("raw.landed", file, "--columns", "price INT"), "COLUMN_CHANGED", 5),
        (("raw.landed", file, "--partition-size", "1GB"), "INDEX_CHANGED", 5),
        (("raw.new", file, "--columns", "id VARCHAR(3)"), "UNSUPPORTED_TYPE", 6),
        (("raw.new", file, "--columns", "id STRING b INT"), "DDL_SYNTAX", 6),
    ):
        found, ended, error = refusal(freshet, *words)
        assert (found, ended) == (code, exit_code), words
        assert error["effect"].startswith("Nothing was "), error
    with hold_lease(TableRef("raw.landed", str(root / "data/raw/landed")), "other", 0, print):
        assert refusal(freshet, "raw.landed", file)[:2] == ("ALREADY_RUNNING", 4)
    assert refusal(freshet, "raw.x", file, "-C", str(root.parent))[:2] == ("NOT_A_PROJECT", 1)
    assert not (root / "data/raw/new").exists()


@pytest.mark.parametrize("table", ["derived.payments", "derived.payments_quarantine"])
@pytest.mark.parametrize("location", ["", "LOCATION 'data/derived/payments__m2'\n", "LOCATION 'data/elsewhere/pay'\n"])
def test_a_pipelines_tables_are_known_by_name_wherever_they_lie(
    freshet: Freshet,
    root: Path,
    here: Callable[[str, bytes], str],
    no_spark: None,
    location: str,
    table: str,
) -> None:
    """A migrated target lies elsewhere than its database's other tables; its quarantine may not have been made yet.

    Neither files nor a seed are landed under their names, and ``validate`` says so of the seed.
    """
    ddl = DDL.format(name="payments").replace("TBLPROPERTIES", f"{location}TBLPROPERTIES")
    a_project(root, files={"ddl/payments.sql": ddl})
    words = (table, here("a.csv", FILES["a.csv"]), "--key", "id", "--ordering", "updated_at")
    assert refusal(freshet, *words)[:2] == ("TABLE_OF_A_PIPELINE", 5)
    (root / "seeds").mkdir()
    (root / f"seeds/{table}.csv").write_text("id\n1\n")
    (root / f"seeds/{table}.yml").write_text("key: id\n")
    for command in (("validate",), ("land", "--seeds")):
        done = freshet(*command, "--output", "json")
        problems = parsed(done)["error"]["details"]["problems"]
        assert (done.exit_code, [one["code"] for one in problems]) == (3, ["TABLE_OF_A_PIPELINE"]), command


@pytest.mark.parametrize(("said", "columns"), [("\\t", ("a", "b|c;d")), ("\t", ("a", "b|c;d")), ("|", ("a\tb", "c;d"))])
def test_a_delimiter_is_one_character_and_a_tab_may_be_written(
    here: Callable[[str, bytes], str],
    said: str,
    columns: tuple[str, ...],
) -> None:
    here("a.csv", b"a\tb|c;d\n")
    assert find_files(["a.csv"], delimiter=delimiter_of(said)).groups[0].columns == columns


@pytest.mark.parametrize("said", ["||", "\\n", "\n", "\r", '"', "\\", "tab", "\0", "\U0001f600"])
def test_what_is_no_delimiter_is_refused_before_anything_is_read(
    freshet: Freshet,
    root: Path,
    here: Callable[[str, bytes], str],
    no_spark: None,
    said: str,
) -> None:
    """On the command line, and in a seed's YAML by ``validate`` and ``land --seeds``."""
    words = ("land", "raw.x", here("a.csv", FILES["a.csv"]), "--key", "id", "--ordering", "updated_at")
    assert freshet(*words, "--delimiter", said).exit_code == 2
    (root / "seeds").mkdir()
    (root / "seeds/raw.a.csv").write_text("id\n1\n")
    (root / "seeds/raw.a.yml").write_text(f"key: id\ndelimiter: {json.dumps(said, ensure_ascii=False)}\n")
    for command in (("validate",), ("land", "--seeds")):
        done = freshet(*command, "--output", "json")
        problems = parsed(done)["error"]["details"]["problems"]
        assert (done.exit_code, [(one["code"], one["line"]) for one in problems]) == (3, [("BAD_VALUE", 2)]), command


@pytest.mark.parametrize("name", ["seeds/raw.b.csv", "seeds/raw.b.json"])
@pytest.mark.parametrize("kind", ["a link to nowhere", "a folder", "a pipe"])
def test_a_seed_is_an_ordinary_file(freshet: Freshet, root: Path, kind: str, name: str) -> None:
    """A pipe would be waited for, for ever; told by ``validate`` too."""
    (root / "seeds").mkdir()
    file = root / name
    {"a folder": file.mkdir, "a pipe": lambda: os.mkfifo(file), "a link to nowhere": lambda: file.symlink_to("nowhere")}[kind]()
    (root / "seeds/raw.b.yml").write_text("key: id\n")
    for command in (("validate",), ("land", "--seeds")):
        done = freshet(*command, "--output", "json")
        problems = parsed(done)["error"]["details"]["problems"]
        assert [(one["code"], one["file"]) for one in problems] == [("NOT_A_FILE", name)]


def test_one_seed_that_fails_keeps_no_other_from_being_landed(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever it fails by: a file that this user may not read, a disk that gives up, a fault of ours."""
    (root / "seeds").mkdir()
    for table in ("raw.a", "raw.b", "raw.c"):
        (root / f"seeds/{table}.csv").write_text("id\n1\n")
        (root / f"seeds/{table}.yml").write_text("key: id\n")

    def broken(seed: Seed, path: Path) -> str:
        if seed.table == "raw.c":
            raise ZeroDivisionError("by nothing")
        raise PermissionError(13, "Permission denied", str(path)) if seed.table == "raw.a" else DataError("MY_OWN", "mine")

    monkeypatch.setattr("freshet.landing.run_seeds.digest_of", broken)
    done = freshet("land", "--seeds", "--output", "json")
    assert [(one["table"], one["error"]["code"]) for one in parsed(done)["seeds"]] == [
        ("raw.a", "FILE_UNREADABLE"),
        ("raw.b", "MY_OWN"),
        ("raw.c", "UNEXPECTED_ERROR"),
    ]
    assert done.exit_code == 1


def test_a_command_line_that_says_too_little_or_too_much(freshet: Freshet, here: Callable[[str, bytes], str]) -> None:
    for words in ((), ("raw.x",), ("--seeds", "--key", "id"), ("--seeds", "--delete-missing")):
        assert freshet("land", *words).exit_code == 2, words


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({}, "NO_SEEDS"),
        ({"dim.a.csv": "id\n"}, "SEED_WITHOUT_KEY"),
        ({"dim.a.yml": "key: id\n"}, "SEED_WITHOUT_ROWS"),
        ({"dim.a.csv": "id\n", "dim.a.json": "", "dim.a.yml": "key: id\n"}, "DUPLICATE_SEED"),
        ({"a.csv": "id\n", "a.yml": "key: id\n"}, "BAD_NAME"),
        ({"dim.a.csv": "id\n", "dim.a.yml": "kye: id\n"}, "UNKNOWN_KEY"),
        ({"dim.a.csv": "id\n", "dim.a.yml": "columns: {}\n"}, "MISSING_KEY"),
        ({"dim.a.xls": ""}, "NOT_A_SEED"),
        ({"dim.a.csv": "id\n", "dim.a.yml": "key: id\ntype: mow\n"}, "WRONG_TYPE"),
        ({"nowhere.a.csv": "id\n", "nowhere.a.yml": "key: id\n"}, "UNKNOWN_DATABASE"),
    ],
)
def test_seeds_that_are_not_whole(freshet: Freshet, root: Path, files: dict[str, str], code: str) -> None:
    """Told with their file, by ``land --seeds`` and, where there are any, by ``validate``."""
    (root / "seeds").mkdir()
    for name, text in files.items():
        (root / "seeds" / name).write_text(text)
    (root / "configs/base.yml").write_text(
        (root / "configs/base.yml").read_text() + "hoodie: {hoodie.bucket.index.num.buckets: 2}\n"
    )
    for words in (("land", "--seeds"), *((("validate",),) if files else ())):
        done = freshet(*words, "--output", "json")
        problems = parsed(done)["error"]["details"]["problems"]
        assert (done.exit_code, code in [one["code"] for one in problems]) == (3, True), problems


def test_a_seed_by_its_name(freshet: Freshet, root: Path) -> None:
    (root / "seeds").mkdir()
    (root / "seeds/raw.a.csv").write_text("id\n")
    (root / "seeds/raw.a.yml").write_text("key: id\n")
    done = freshet("land", "--seeds", "raw.b", "--output", "json")
    assert parsed(done)["error"]["details"]["problems"][0]["code"] == "UNKNOWN_SEED"


def test_an_unchanged_seed_starts_no_spark(freshet: Freshet, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digest stands in the table's newest commit; with other rows, other words or a later commit it is landed."""
    (root / "seeds").mkdir()
    (root / "seeds/raw.a.csv").write_text("id\n1\n")
    (root / "seeds/raw.a.yml").write_text("key: id\n")
    digest = digest_of(read_seeds(root, Problems())[0], root / "seeds/raw.a.csv")
    table = HandMade(root / "data/raw/a", OF_A_PIPELINE.replace("updated_at", "landed_at"))
    extra = {**LANDED, LANDED_KEY: json.dumps({"digest": digest})}
    table.done(10, commit(extra, numInserts=1))

    def asked(*words: object, **more: object) -> None:
        raise FreshetError("SPARK_ASKED", "Spark was asked for.")

    monkeypatch.setattr("freshet.landing.work.plain_session", asked)
    done = freshet("land", "--seeds")
    assert (done.exit_code, done.stdout) == (0, "raw.a: nothing to do: the file is as it was when it was landed\n")
    for change in (
        lambda: (root / "seeds/raw.a.csv").write_text("id\n2\n"),
        lambda: (root / "seeds/raw.a.yml").write_text("key: [id]\ncolumns: {id: STRING}\n"),
        lambda: table.done(20, commit({**LANDED}, numInserts=1)),
    ):
        change()
        failed = parsed(freshet("land", "--seeds", "--output", "json", catch_exceptions=False))["seeds"][0]
        assert failed["error"]["code"] == "SPARK_ASKED"
        (root / "seeds/raw.a.csv").write_text("id\n1\n")
        (root / "seeds/raw.a.yml").write_text("key: id\n")


def test_a_landed_table_is_shown_before_any_pipeline_reads_it(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    HandMade(root / "data/raw/landed", OF_A_PIPELINE).done(10, commit(LANDED, numInserts=10))

    def asked(*words: object, **more: object) -> None:
        raise FreshetError("SPARK_ASKED", "Spark was asked for.")

    monkeypatch.setattr("freshet.jvm.session.start_session", asked)
    for name, code in (("raw.landed", "SPARK_ASKED"), ("raw.lande", "TABLE_UNKNOWN"), ("row.landed", "TABLE_UNKNOWN")):
        assert parsed(freshet("show", name, "--output", "json"))["error"]["code"] == code, name


def test_what_is_noticed_of_a_seed_is_told_in_words_too(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (root / "seeds").mkdir()
    (root / "seeds/raw.a.csv").write_text("id\n1\n")
    (root / "seeds/raw.a.yml").write_text("key: id\n")
    landed = Landed(
        table="raw.a", path="/raw/a", outcome="committed", columns=(("id", "string"),), notices=("TEXT_COLUMN: amount is text",)
    )
    monkeypatch.setattr("freshet.landing.run.land", lambda *_: landed)
    assert freshet("land", "--seeds").stdout.splitlines()[1:] == ["TEXT_COLUMN: amount is text"]


@pytest.mark.parametrize("is_seen", [True, False], ids=["one place", "a pipe"])
def test_a_notice_is_not_printed_twice_in_one_place(
    freshet: Freshet,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_seen: bool,
) -> None:
    """Kind: what is told while files are landed, and again by the result; one that the result alone knows stands in it."""
    (root / "seeds").mkdir()
    (root / "seeds/raw.a.csv").write_text("id\n1\n")
    (root / "seeds/raw.a.yml").write_text("key: id\n")
    said, left = "SAME_ORDERING: 1 row", "TEXT_COLUMN: amount is text"
    landed = Landed(table="raw.a", path="/raw/a", outcome="committed", columns=(("id", "string"),), notices=(left, said))

    def land(*given: Any) -> Landed:
        given[3](Notice(pipeline="raw.a", code="SAME_ORDERING", message=said))
        return landed

    monkeypatch.setattr("freshet.landing.run.land", land)
    monkeypatch.setattr("freshet.cli.land_text.are_one_place", lambda *_: is_seen)
    assert freshet("land", "--seeds").stdout.splitlines()[1:] == ([left] if is_seen else [left, said])
