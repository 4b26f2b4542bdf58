"""Files as the main source: which keys say so, what they mean, and what is refused at its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.files import FilesSpec
from freshet.project.model.pipeline import PipelineSpec
from tests.kit.project import ACCEPTS, a_project
from tests.unit.project.conftest import Check, seen

FILE = "pipelines/payments.yml"
HEAD = "ddl: ddl/payments.sql\ntransform: transformers/payments.sql\nhoodie:\n  hoodie.bucket.index.num.buckets: 2\n"
ROOT = "  hoodie.streamer.source.dfs.root: data/landing/payments\n"
CSV = "source: {format: csv}\n"
LOG = "source: {{format: changelog, changelog: {{{}}}{}}}\n"


def yml(hoodie: str = ROOT, more: str = "") -> dict[str, str | bytes]:
    return {FILE: HEAD + hoodie + more + ACCEPTS}


def loaded(tmp_path: Path, hoodie: str = ROOT, more: str = "", **options: Any) -> PipelineSpec:
    return load_project(a_project(tmp_path, files=yml(hoodie, more)), **{"environ": {}, **options}).pipelines[0]


def files(tmp_path: Path, *args: str, **options: Any) -> FilesSpec:
    found = loaded(tmp_path, *args, **options).source
    assert isinstance(found, FilesSpec)
    return found


def test_files_by_hoodiestreamers_keys(tmp_path: Path) -> None:
    more = "  hoodie.deltastreamer.csv.header: true\n  hoodie.streamer.csv.sep: ';'\n"
    spec = loaded(tmp_path, ROOT.replace("streamer.source", "deltastreamer.source") + more, CSV)
    found = spec.source
    assert isinstance(found, FilesSpec)
    assert (found.place, found.table.path) == (str(tmp_path / "data/landing/payments"),) * 2
    assert (found.format, found.csv) == ("csv", {"header": "true", "sep": ";"})
    assert [(c.name, str(c.type)) for c in found.columns] == [
        ("id", "string"),
        ("amount", "decimal(10,2)"),
        ("updated_at", "timestamp"),
    ]
    assert [c.name for c in found.row_columns][-1] == "_file"
    assert not [key for key in spec.write_options if "streamer" in key]


def test_what_holds_where_nothing_is_said(tmp_path: Path) -> None:
    found = files(tmp_path)
    assert (found.format, found.pattern, found.max_files, found.max_bytes) == ("json", "", 10_000, 10 * 10**9)
    assert (found.quiet_seconds, found.late_seconds, found.too_late, found.rewritten) == (60, 86_400, "fail", "fail")
    assert (found.empty, found.marker, found.is_strict) == ("wait", "", False)


def test_which_files_when_and_how_many_at_a_time(tmp_path: Path) -> None:
    said = (
        "{pattern: '*.gz', max_files: 7, max_bytes: 1.5GB, quiet: 5m, late: 7d, too_late: warn, rewritten: read, empty: skip, "
        "marker: _SUCCESS}"
    )
    found = files(tmp_path, ROOT, f"source: {{mode: strict, files: {said}}}\n")
    assert (found.pattern, found.max_files, found.max_bytes) == ("*.gz", 7, 1_500_000_000)
    assert (found.quiet_seconds, found.late_seconds, found.too_late, found.rewritten) == (300, 604_800, "warn", "read")
    assert (found.empty, found.marker, found.is_strict) == ("skip", "_SUCCESS", True)


def test_sparks_decoder_of_avro_is_there_for_files_of_avro(tmp_path: Path) -> None:
    assert loaded(tmp_path / "a", ROOT, "source: {format: avro}\n").spark_conf["spark.freshet.avro"] == "true"
    assert "spark.freshet.avro" not in loaded(tmp_path / "b", ROOT, "source: {format: parquet}\n").spark_conf


def test_when_and_how_many_are_no_part_of_the_fingerprint_and_what_rows_are_is(tmp_path: Path) -> None:
    def of(name: str, said: str, kind: str = "csv") -> str:
        return loaded(tmp_path / name, ROOT, f"source: {{format: {kind}, files: {said}}}\n").fingerprint

    one = of("a", "{}")
    assert of("b", "{max_files: 3, max_bytes: 1MB, quiet: 1s, late: 2d, too_late: warn, empty: skip}") == one
    assert len({one, of("c", "{rewritten: read}"), of("d", "{pattern: '*.csv'}"), of("e", "{}", "orc")}) == 4


LOG_DDL = "CREATE TABLE raw.payments (id STRING NOT NULL, amount DECIMAL(10,2)) USING hudi TBLPROPERTIES (primaryKey = 'id')\n"


def log(said: str, form: str = "") -> dict[str, str | bytes]:
    body = (HEAD + ROOT).replace("transform: transformers/payments.sql\n", "") + LOG.format(said, form)
    return {FILE: body + ACCEPTS, "ddl/payments.sql": LOG_DDL}


def test_events_of_a_changelog_in_files_are_rows_with_their_types_or_messages(tmp_path: Path) -> None:
    def of(name: str, said: str, form: str = "") -> FilesSpec:
        found = load_project(a_project(tmp_path / name, files=log(said, form)), environ={}).pipelines[0].source
        assert isinstance(found, FilesSpec)
        return found

    typed = of("a", "adapter: freshet", ", files: {format: parquet}")
    assert typed.changelog is not None
    assert (typed.changelog.is_typed, typed.format) == (True, "parquet")
    assert [c.name for c in typed.columns] == ["id", "amount", "_event"]
    for name, said in (("b", "adapter: freshet"), ("c", "adapter: debezium, reference_key: {kind: lsn}")):
        told = of(name, said)
        assert told.changelog is not None
        assert (told.changelog.is_typed, told.format) == (False, "json")


@pytest.mark.parametrize(
    ("hoodie", "more", "expected"),
    [
        (ROOT.replace("data/landing/payments", "' '"), "", (5, "BAD_VALUE")),
        (ROOT + "  hoodie.streamer.source.hoodieincr.path: data/raw/x\n", "", (6, "CONFLICTING_SETTING")),
        (ROOT + "  hoodie.streamer.source.kafka.topic: x\n", "", (6, "CONFLICTING_SETTING")),
        (ROOT + "  hoodie.datasource.query.incremental.format: cdc\n", "", (6, "CONFLICTING_SETTING")),
        (ROOT + "  hoodie.streamer.csv.header: true\n", "", (6, "CONFLICTING_SETTING")),
        (ROOT + "  hoodie.streamer.csv.mode: DROPMALFORMED\n", CSV, (6, "NOT_SUPPORTED")),
        (ROOT + "  hoodie.streamer.csv.seperator: ';'\n", CSV, (6, "UNKNOWN_KEY")),
        (ROOT + "  hoodie.streamer.source.dfs.datepartitioned.date.format: yyyy\n", "", (6, "NOT_SUPPORTED")),
        (ROOT, "source: {format: avro, schema: {registry: 'http://r'}}\n", (6, "CONFLICTING_SETTING")),
        (ROOT, "source: {topics: [a]}\n", (6, "CONFLICTING_SETTING")),
        (ROOT, "source: {tombstones: row}\n", (6, "CONFLICTING_SETTING")),
        (ROOT, "source: {format: text}\n", (6, "NOT_SUPPORTED")),
        (ROOT, "source: {format: csv, columns: {a: binary}}\n", (6, "NOT_SUPPORTED")),
        (ROOT, "source: {format: csv, columns: {a: 'array<int>'}}\n", (6, "NOT_SUPPORTED")),
        (ROOT, "source: {columns: {_file: string}}\n", (6, "BAD_NAME")),
        (ROOT, "source: {files: {max_bytes: 3 pounds}}\n", (6, "BAD_VALUE")),
        (ROOT, "source: {files: {quiet: soon}}\n", (6, "BAD_VALUE")),
        (ROOT, "source: {files: {max_files: 0}}\n", (6, "WRONG_TYPE")),
        (ROOT, "source: {files: {format: orc}}\n", (6, "CONFLICTING_SETTING")),
        (ROOT, "backfill: {event_time: _file.path}\n", (6, "UNKNOWN_COLUMN")),
        (ROOT, "inputs: {cities: {table: raw.cities, read: incremental, drives: {id: id}}}\n", (6, "NOT_SUPPORTED")),
    ],
)
def test_what_is_refused_is_refused_at_its_line(problems_of: Check, hoodie: str, more: str, expected: tuple[int, str]) -> None:
    found = seen(problems_of(yml(hoodie, more)))
    assert (FILE, *expected) in found, found


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ("adapter: debezium, reference_key: {kind: offset}", ""),
        ("adapter: debezium, reference_key: {kind: lsn}", ", files: {format: avro}"),
    ],
)
def test_messages_in_files_have_no_offsets_and_no_types(problems_of: Check, said: str, form: str) -> None:
    assert seen(problems_of(log(said, form))) == [(FILE, 5, "CONFLICTING_SETTING")]


def test_what_is_said_of_files_where_none_are_read_is_refused(problems_of: Check) -> None:
    path = "  hoodie.streamer.source.hoodieincr.path: data/raw/events\n"
    assert seen(problems_of(yml(path + "  hoodie.streamer.csv.sep: ';'\n")))[0][1:] == (6, "CONFLICTING_SETTING")
    assert seen(problems_of(yml(path, "source: {files: {quiet: 1m}}\n")))[0][1:] == (6, "CONFLICTING_SETTING")
    topic = "  bootstrap.servers: b:1\n  hoodie.streamer.source.kafka.topic: orders\n"
    assert (FILE, 7, "NOT_SUPPORTED") in seen(problems_of(yml(topic, "source: {format: orc}\n")))


def test_a_root_that_would_tell_a_secret_is_refused(problems_of: Check) -> None:
    lines = ROOT.replace("data/landing", '"s3a://{{ env.BUCKET }}"').replace('}}"/payments', '}}/payments"')
    assert seen(problems_of(yml(lines), environ={"BUCKET": "geheimnis"})) == [(FILE, 5, "SECRET_IN_NAME")]
