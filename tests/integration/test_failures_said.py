"""A failed run says which table it was, source or target, in one short message.

Of this kind: a file of a source, an input or the target that cannot be read, found while the plan is analysed or while
Spark writes; a function of a Python step that raises in one of Spark's workers; whatever Hudi says with its schema in it.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pyarrow import parquet

from freshet.errors import FreshetError
from tests.kit.lake import Lake, rows

UDF = """\
from pyspark.sql import functions as F

def transform(inputs, context):
    broken = F.udf(lambda text: str(1 / 0))
    return inputs["SRC"].withColumn("id", broken("id")).select("id", "ts", "amount", "day")
"""


def failed(lake: Lake) -> FreshetError:
    error = lake.run().error
    assert error is not None
    assert len(error.message) <= 600
    assert not re.search(r"\n|\bat org\.|Traceback|stacktrace", error.message)
    return error


def spoil(lake: Lake, table: str) -> None:
    for file in (lake.root / table.replace(".", "/")).rglob("*.parquet"):
        file.write_bytes(b"no longer what it was, and long enough to be looked into")
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def test_the_table_that_cannot_be_read_is_named(lake: Lake) -> None:
    """The source, an input and the target, one after the other."""
    lake.land(rows(("a", 1, "1")))
    lake.land(rows(("a", 1, "1")), table="raw.cities")
    lake.pipeline(
        sql="SELECT s.* FROM <SRC> s LEFT JOIN cities c ON s.id = c.id",
        top="inputs: {cities: {table: raw.cities, read: snapshot}}\n",
    )
    lake.run_ok()
    lake.land(rows(("a", 2, "2")))
    for table in ("raw.events", "raw.cities", "derived.copy"):
        place = lake.root / table.replace(".", "/")
        whole = shutil.copytree(place, lake.root / "whole" / table)
        spoil(lake, table)
        error = failed(lake)
        assert (error.code, error.message.startswith(table)) == ("FILE_CORRUPT", True), table
        named = [other for other in ("raw.events", "raw.cities") if other in error.message]
        assert named == [table] * (table != "derived.copy")
        shutil.rmtree(place)
        shutil.copytree(whole, place)
    lake.run_ok()
    assert lake.rows() == lake.rows("raw.events")


def test_a_function_of_a_python_step_is_the_users(lake: Lake) -> None:
    lake.land(rows(("a", 1, "1")))
    lake.pipeline(transform="transformers/copy.py")
    lake.write_file("transformers/copy.py", UDF)
    error = failed(lake)
    assert error.code == "PYTHON_ERROR"
    assert "ZeroDivisionError" in error.message


def test_what_hudi_would_pass_over_is_refused_and_what_is_mended_goes_on(lake: Lake) -> None:
    """A log that is cut, a base file that is gone, a place that cannot be written: each is said, and nothing is stuck.

    Hudi takes the end of a log for a write that never ended, and lists what is there: the rows would never come.
    """
    kind = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
    lake.pipeline()
    lake.land(rows(("a", 1, "1")), **kind)
    lake.run_ok()
    lake.land(rows(("a", 2, "2")), **kind)
    lake.land(rows(("b", 1, "1"), day="2026-01-06"), **kind)
    (log,) = (file for file in (lake.root / "raw/events/2026-01-05").glob(".*.log.*") if file.suffix != ".crc")
    (base,) = (lake.root / "raw/events/2026-01-06").glob("*.parquet")
    whole = log.read_bytes()
    log.write_bytes(whole[:-30])
    held = base.rename(lake.root / "held")
    assert failed(lake).code == "FILE_CORRUPT"
    log.write_bytes(whole)
    assert failed(lake).code == "FILE_MISSING"
    held.rename(base)
    place = lake.root / "derived/copy/2026-01-06"
    place.write_text("no folder")
    error = failed(lake)
    assert (error.code, error.message.startswith("derived.copy")) == ("NOT_WRITABLE", True)
    place.unlink()
    lake.run_ok()
    assert lake.rows() == lake.rows("raw.events")


def garbled(file: Path, old: bytes = b"", new: bytes = b"") -> bytes:
    """Change bytes of a file, of a base file by default one in the last page of each column, and return what it was."""
    whole = file.read_bytes()
    content = bytearray(whole.replace(old, new))
    if not old:
        footer = parquet.read_metadata(file)
        for column in map(footer.row_group(0).column, range(footer.num_columns)):
            begin = column.data_page_offset if column.dictionary_page_offset is None else column.dictionary_page_offset
            content[begin + column.total_compressed_size - 6] ^= 0x15
    assert len(content) == len(whole)
    assert content != whole
    file.write_bytes(content)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    return whole


def test_a_garbled_page_is_not_read_as_other_values(lake: Lake) -> None:
    """Kind: bytes that changed where they lie, and can be read: each page's own checksum tells. Of other members, which another
    reader finds: test_garbled_files, and the night's test below.
    """
    lake.pipeline()
    lake.land(rows(("kumquat", 1, "1"), ("b", 1, "1")), **{"hoodie.parquet.compression.codec": "uncompressed"})
    (file,) = (one for one in (lake.root / "raw/events/2026-01-05").glob("*.parquet") if b"kumquat" in one.read_bytes())
    whole = garbled(file, b"kumquat", b"kumquaT")
    error = failed(lake)
    assert (error.code, error.retryable, str(file) in error.message) == ("FILE_CORRUPT", False, True)
    file.write_bytes(whole)
    lake.run_ok()
    assert lake.rows() == lake.rows("raw.events")


def test_each_kind_of_file_that_is_garbled_is_named(lake: Lake) -> None:
    """Members: the schema in a log of the source, a page of an input, of the target and of the quarantine. Hudi's own words for
    them name no file, or another one.
    """
    kind = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
    lake.pipeline(
        sql="SELECT s.id, s.ts, s.amount + c.amount - c.amount AS amount, s.day FROM <SRC> s JOIN cities c ON s.day = c.day",
        top="inputs: {cities: {table: raw.cities, read: snapshot}}\n"
        "checks: [{name: positive, where: 'amount < 0', severity: drop}]\n",
    )
    lake.land(rows(*((f"k{n}", 1, "1") for n in range(20)), ("bad", 1, "-1")), **kind)
    lake.land(rows(("a", 1, "1")), table="raw.cities")
    lake.run_ok()
    lake.land(rows(*((f"k{n}", 2, "2") for n in range(20)), ("bad", 2, "-2")), **kind)
    for place, pattern, old in (
        ("raw/events", ".*.log.*", b'{"type"'),
        ("raw/cities", "*.parquet", b""),
        ("derived/copy", "*.parquet", b""),
        ("derived/copy_quarantine", "*.parquet", b""),
    ):
        files = [one for one in (lake.root / place).rglob(pattern) if "/.hoodie/" not in str(one) and one.suffix != ".crc"]
        kept = {file: garbled(file, old, b"7" * len(old)) for file in files}
        error = failed(lake)
        name = place.replace("/", ".")
        said = (place, error.code, error.message)
        assert (error.code, error.retryable, error.message.startswith(f"{name}: ")) == ("FILE_CORRUPT", False, True), said
        assert any(str(file) in error.message for file in files), said
        for file, whole in kept.items():
            file.write_bytes(whole)
    lake.run_ok()
    assert len(lake.rows()) == 20


def test_files_below_what_is_read_or_written_are_what_their_commits_wrote(lake: Lake) -> None:
    """Kind: base files and logs of commits long ago, gone or cut: of a target that is logged to, of an input, of the source.

    Without a metadata table Hudi lists what is there: rows would be missing unseen, and a run would log over them.
    """
    kind = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}
    lake.pipeline(
        sql="SELECT s.* FROM <SRC> s LEFT JOIN cities c ON s.id = c.id",
        table_type="mor",
        top="inputs: {cities: {table: raw.cities, read: snapshot}}\n",
    )
    lake.land(rows(("a", 1, "1"), ("b", 1, "1")), **kind)
    lake.land(rows(("a", 1, "1")), table="raw.cities")
    lake.run_ok()
    lake.land(rows(("a", 2, "2")), **kind)
    # The window's own files are whole, and what stands of its row comes of the base file below.
    for table in ("derived/copy", "raw/cities", "raw/events"):
        # The source's is the one that its window has logged over.
        logs = [file.name.strip(".").partition("_")[0] for file in (lake.root / table / "2026-01-05").glob(".*.log.*")]
        base, *_ = (lake.root / table / "2026-01-05").glob(f"{logs[0] if logs else ''}*.parquet")
        name, whole = table.replace("/", "."), base.read_bytes()
        base.write_bytes(whole[:-9])
        error = failed(lake)
        assert (error.code, error.message.startswith(name)) == ("FILE_CORRUPT", True), table
        base.unlink()
        error = failed(lake)
        assert (error.code, error.message.startswith(name)) == ("FILE_MISSING", True), table
        base.write_bytes(whole)
    lake.run_ok()
    assert lake.rows() == lake.rows("raw.events")
