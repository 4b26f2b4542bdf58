"""``source: {bootstrap: ...}``: what it says, and what is refused at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from tests.kit.project import ACCEPTS, a_project
from tests.unit.project.conftest import Check, seen

FILE = "pipelines/payments.yml"
LOG = "adapter: freshet, reference_key: {kind: given, form: text}"
DDL = (
    "CREATE TABLE raw.payments (id STRING NOT NULL, amount DECIMAL(10,2){more}) USING hudi TBLPROPERTIES (primaryKey = 'id')\n"
)
FILES = "from: files, path: backups/payments, format: {kind}, position: 0/1a2b3c4"


def yml(
    said: str, log: str = LOG, more: str = "", root: str = "hoodie.streamer.source.dfs.root: data/x"
) -> dict[str, str | bytes]:
    text = (
        f"ddl: ddl/payments.sql\nhoodie:\n  hoodie.bucket.index.num.buckets: 2\n  {root}\n"
        f"source:\n  format: changelog\n  changelog: {{{log}}}\n  bootstrap: {{{said}}}\n"
    )
    return {FILE: text + ACCEPTS, "ddl/payments.sql": DDL.format(more=more)}


def loaded(folder: Path, said: str) -> PipelineSpec:
    return load_project(a_project(folder, files=yml(said)), environ={}).pipelines[0]


def test_a_backup_of_files_and_one_that_is_a_table(tmp_path: Path) -> None:
    spec = loaded(tmp_path / "a", FILES.format(kind="csv") + ", pattern: '*.gz', csv: {header: true, sep: ';', maxColumns: 9}")
    found = spec.source.bootstrap
    assert found is not None
    assert found.place is not None
    assert (found.kind, found.format, found.pattern, found.path) == (
        "files",
        "csv",
        "*.gz",
        str(tmp_path / "a/backups/payments"),
    )
    assert found.csv == {"nullValue": "\x01", "header": "true", "sep": ";", "maxColumns": "9"}
    assert (found.place.kind, found.place.text, found.place.number) == ("postgresql", "0/1A2B3C4", 0x1A2B3C4)
    table = loaded(tmp_path / "b", "from: hudi, path: s3a://lake/payments, position: 0-1-42").source.bootstrap
    assert table is not None
    assert table.place is not None
    assert (table.path, table.place.kind, table.place.number) == ("s3a://lake/payments", "mariadb", 42)
    later = loaded(tmp_path / "c", "from: hudi, path: x").source.bootstrap
    assert later is not None
    assert later.place is None


def test_sparks_decoder_of_avro_is_there_for_a_backup_of_avro(tmp_path: Path) -> None:
    assert loaded(tmp_path, FILES.format(kind="avro")).spark_conf["spark.freshet.avro"] == "true"


@pytest.mark.parametrize(
    ("said", "more", "code"),
    [
        ("from: pg_dump, path: x", {}, "NOT_SUPPORTED"),
        ("from: tape, path: x", {}, "WRONG_TYPE"),
        ("from: files, path: x", {}, "MISSING_KEY"),
        ("from: files, format: csv", {}, "MISSING_KEY"),
        (FILES.format(kind="csv").replace("0/1a2b3c4", "0/xyz"), {}, "BAD_VALUE"),
        (FILES.format(kind="csv").replace("0/1a2b3c4", "'0-1-42,1-1-7'"), {}, "BAD_VALUE"),
        (FILES.format(kind="json") + ", csv: {header: true}", {}, "CONFLICTING_SETTING"),
        (FILES.format(kind="csv") + ", csv: {headr: true}", {}, "UNKNOWN_KEY"),
        (FILES.format(kind="csv") + ", colour: red", {}, "UNKNOWN_KEY"),
        (FILES.format(kind="csv"), {"more": ", raw BINARY"}, "NOT_SUPPORTED"),
        ("from: hudi, path: x, format: orc", {}, "CONFLICTING_SETTING"),
        (FILES.format(kind="orc"), {"log": "adapter: freshet"}, "NOT_SUPPORTED"),
        (FILES.format(kind="orc"), {"log": "adapter: debezium, reference_key: {kind: lsn}"}, "NOT_SUPPORTED"),
        (
            FILES.format(kind="orc"),
            {"root": "hoodie.streamer.source.kafka.topic: payments\n  bootstrap.servers: a:9092"},
            "NOT_SUPPORTED",
        ),
    ],
)
def test_what_a_backup_cannot_be(problems_of: Check, said: str, more: dict[str, str], code: str) -> None:
    files = yml(said, **more)
    line = str(files[FILE]).split("  bootstrap:")[0].count("\n") + 1
    assert seen(problems_of(files)) == [(FILE, line, code)]


def test_rows_that_are_no_changes_have_no_backup(problems_of: Check) -> None:
    files = yml(FILES.format(kind="csv"))
    text = str(files[FILE]).replace("  format: changelog\n", "  format: json\n").replace(f"  changelog: {{{LOG}}}\n", "")
    found = problems_of({FILE: f"transform: transformers/payments.sql\n{text}"})
    assert seen(found) == [(FILE, 8, "CONFLICTING_SETTING")]
