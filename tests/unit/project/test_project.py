"""A whole project: what a valid one becomes, and every problem of every file at its place."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from freshet.errors import Problem, SpecError
from freshet.project.load.project import load_project
from freshet.project.rules.fingerprint import APART
from tests.kit.project import BASE, DDL, PIPELINE, SQL, a_project
from tests.kit.work import calls
from tests.unit.project.conftest import Check, seen
from tests.unit.project.payments import DDL_FILE, PAYMENTS, YML, YML_FILE, yml


def test_a_valid_project(tmp_path: Path) -> None:
    project = load_project(a_project(tmp_path), environ={})
    (spec,) = project.pipelines
    assert (project.env, project.root) == ("base", str(tmp_path))
    assert (spec.name, spec.operation, spec.target.record_key, spec.target.ordering_field) == (
        "payments",
        "upsert",
        ("id",),
        "updated_at",
    )
    assert spec.target.ref.path == f"{tmp_path}/data/derived/payments"
    assert (spec.source.table.name, spec.source.max_commits) == ("raw.events", 5)
    assert spec.index.parameters == {
        "hoodie.bucket.index.num.buckets": "2",
        "hoodie.bucket.index.hash.field": "id",
        "hoodie.index.bucket.engine": "SIMPLE",
    }
    assert spec.write_options == {}
    assert len(spec.fingerprint) == 16
    assert [statement.line for statement in spec.transform[0].statements] == [1]


def test_windows_line_ends_and_byte_order_marks(problems_of: Check) -> None:
    crlf = {
        path: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
        for path, text in (
            (YML_FILE, YML),
            (DDL_FILE, PAYMENTS),
            ("transformers/payments.sql", SQL),
            ("configs/base.yml", BASE),
        )
    }
    assert problems_of(crlf) == []


def test_all_problems_of_all_files_at_once(problems_of: Check) -> None:
    found = problems_of(
        {
            "configs/base.yml": BASE + "warehose: {}\n",
            YML_FILE: yml("  hoodie.upsert.suffle.parallelism: 2", "owners: me"),
            DDL_FILE: PAYMENTS.replace("preCombineField = 'updated_at'", "preCombineField = 'updated'"),
            "transformers/payments.sql": "SELECT *\nFROM <SRC> WHERE x = {{ var.nope }}\n",
        }
    )
    assert seen(found) == [
        ("configs/base.yml", 3, "UNKNOWN_KEY"),
        (DDL_FILE, 7, "UNKNOWN_COLUMN"),
        (YML_FILE, 7, "UNKNOWN_KEY"),
        (YML_FILE, 8, "UNKNOWN_KEY"),
        ("transformers/payments.sql", 2, "UNDEFINED_VARIABLE"),
    ]
    hints = " ".join(p.hint for p in found)
    for name in ("'warehouse'", "'hoodie.upsert.shuffle.parallelism'", "'owner'", "'updated_at'"):
        assert name in hints


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        (yml(without="ddl:"), 1, "MISSING_KEY"),
        (yml(without="transform:"), 1, "MISSING_KEY"),
        (yml("tags: {a: b}"), 7, "WRONG_TYPE"),
        (yml("inputs: [a]"), 7, "WRONG_TYPE"),
        (yml("vars: {x: [1]}"), 7, "WRONG_TYPE"),
        (yml("vars: {'a-b': 1}"), 7, "BAD_VALUE"),
        (yml("schedule: hourly"), 7, "BAD_VALUE"),
        (yml("lease:", "  wait_seconds: soon"), 8, "WRONG_TYPE"),
        (yml("lease:", "  wait_minutes: 1"), 8, "UNKNOWN_KEY"),
        (yml("warehouse: {raw: x}"), 7, "MISPLACED_KEY"),
        (yml("hoodie.index.type: BUCKET"), 7, "UNKNOWN_KEY"),
        (yml("spark: {sql.x: 1}"), 7, "UNKNOWN_KEY"),
        (yml("inputs:", "  a: {tabel: raw.a}"), 8, "UNKNOWN_KEY"),
        (yml("inputs:", "  a: {table: raw.a, read: incremental, on: {day: day}}"), 8, "CONFLICTING_SETTING"),
        (yml("inputs:", "  a: {table: raw.a, lookback: 24h}"), 8, "CONFLICTING_SETTING"),
        (yml("inputs:", "  a: {table: raw.a, read: incremental, lookback: soon}"), 8, "BAD_VALUE"),
        (yml("inputs:", "  a: {table: raw.a, read: affected_partitions}"), 8, "MISSING_KEY"),
        (yml("inputs:", "  a: {table: raw.a, as_of: checkpoint}"), 8, "BAD_VALUE"),
        (yml("  hoodie.datasource.write.operation: insert_overwrite"), 7, "OVERWRITE_LOSES_ROWS"),
        (yml("write: {strategy: merge, columns: [nothing]}"), 7, "UNKNOWN_COLUMN"),
        (yml("write: {strategy: merge, columns: [id]}"), 7, "BAD_VALUE"),
        (yml("write: {strategy: merge, columns: [amount], changed_columns: c}"), 7, "CONFLICTING_SETTING"),
        (yml("backfill: {event_time: updated_at, partition: nothing}"), 7, "UNKNOWN_COLUMN"),
        (yml("backfill: {event_time: updated_at, inputs: {nobody: t}}"), 7, "UNKNOWN_KEY"),
        (yml("backfill: {event_time: updated_at, write: insert_overwrite}"), 7, "CONFLICTING_SETTING"),
        (yml("inputs:", "  a: {table: rwa.a}"), 8, "UNKNOWN_DATABASE"),
        (yml("inputs:", "  a: {table: a}"), 8, "MISSING_DATABASE"),
        (yml("inputs:", "  SRC: {table: raw.a}"), 8, "BAD_VALUE"),
        (yml("inputs:", "  src: {table: raw.a}"), 8, "BAD_VALUE"),
        (yml("inputs:", "  a-b: {table: raw.a}"), 8, "BAD_NAME"),
        (yml("inputs:", "  1a: {table: raw.a}"), 8, "BAD_NAME"),
        (yml("inputs:", "  größe: {table: raw.a}"), 8, "BAD_NAME"),
        (yml("inputs:", "  a: {table: raw.a}", "  b: {table: raw.b}", "  A: {table: raw.c}"), 10, "DUPLICATE_INPUT"),
        (yml("inputs:", "  _a1: {table: raw.a}", "  B: {table: raw.b}"), 0, ""),
        (yml("partition_is_stable: maybe"), 7, "WRONG_TYPE"),
        (yml(without="hoodieincr.path"), 3, "MISSING_SOURCE"),
        (yml(without="num.buckets"), 1, "MISSING_BUCKET_COUNT"),
        (yml("  hoodie.index.type: GLOBAL_BLOOM"), 7, "NOT_SUPPORTED"),
        (
            yml("  hoodie.index.type: HBASE\n  hoodie.index.hbase.zkport: 2181\n  hoodie.index.hbase.table: t"),
            7,
            "MISSING_HBASE_SETTING",
        ),
        (yml("  hoodie.index.type: BUKET"), 7, "BAD_VALUE"),
        (yml("  hoodie.datasource.write.operation: bulk_insert"), 7, "NOT_SUPPORTED"),
        (yml("  hoodie.datasource.write.operation: upsrt"), 7, "BAD_VALUE"),
        (yml("  hoodie.datasource.write.recordkey.field: amount"), 7, "CONFLICTING_SETTING"),
        (yml("  hoodie.datasource.write.table.type: MERGE_ON_READ"), 7, "CONFLICTING_SETTING"),
        (yml("  hoodie.datasource.write.partitionpath.field: id"), 7, "CONFLICTING_SETTING"),
        (yml("  hoodie.datasource.write.precombine.field: amount"), 7, "CONFLICTING_SETTING"),
        (yml("  hoodie.table.name: x"), 7, "RESERVED_KEY"),
        (yml("  hoodie.datasource.query.type: snapshot"), 7, "RESERVED_KEY"),
        (yml("  hoodie.bucket.index.hash.field: amount"), 7, "BUCKET_FIELD_NOT_IN_KEY"),
        (yml("  hoodie.index.bucket.engine: CONSISTENT_HASHING"), 7, "NOT_SUPPORTED"),
        (yml("  hoodie.record.merge.mode: COMMIT_TIME_ORDERING"), 7, "OLDER_ROW_WINS"),
        (yml("  hoodie.record.merge.mode: CUSTOM"), 7, "OLDER_ROW_WINS"),
        (yml("  hoodie.record.merge.mode: NONE"), 7, "BAD_VALUE"),
        (yml("  hoodie.write.record.merge.mode: commit_time_ordering"), 7, "OLDER_ROW_WINS"),
        (yml("  hoodie.write.record.merge.mode: EVENT_TIME_ORDERING"), 0, ""),
        (yml("  hoodie.compact.inline: maybe"), 7, "BAD_VALUE"),
        (yml("  hoodie.streamer.source.hoodieincr.num_instants: 0"), 7, "BAD_VALUE"),
        (yml("  hoodie.streamer.source.kafka.topic: t"), 7, "CONFLICTING_SETTING"),
        (yml("  hoodie.deltastreamer.source.hoodieincr.path: x"), 7, "DUPLICATE_KEY"),
        (yml("  hoodie.compact.inline:"), 7, "WRONG_TYPE"),
        (yml("  hoodie.compact.inline: [true]"), 7, "WRONG_TYPE"),
        (yml("  hoodie.datasource.query.incremental.format: cdd"), 7, "BAD_VALUE"),
        (YML.replace("ddl/payments.sql", "../x.sql"), 1, "PATH_OUTSIDE_PROJECT"),
        (YML.replace("ddl/payments.sql", "/etc/passwd"), 1, "PATH_OUTSIDE_PROJECT"),
        (YML.replace("ddl/payments.sql", "ddl/paymnts.sql"), 1, "MISSING_FILE"),
        (YML.replace("transformers/payments.sql", "[transformers/payments.sql, out/x.py]"), 2, "PATH_OUTSIDE_PROJECT"),
        (YML.replace("transformers/payments.sql", "ddl"), 2, "BAD_VALUE"),
        (YML.replace("var.raw_root", "var.raw_rot"), 4, "UNDEFINED_VARIABLE"),
        (YML.replace("var.raw_root", "''.__class__"), 4, "TEMPLATE_UNSAFE"),
        (YML + "a: !!python/object:os.x {}", 7, "YAML_TAG"),
        (YML + "a: \0", 7, "NOT_TEXT"),
        (yml("vars: {n: " + "9" * 5000 + "}"), 0, ""),
        # What is missing because of a misspelt key, an empty one or one that stands twice is no second problem.
        (YML.replace("hoodie:\n", "hoodei:\n"), 3, "UNKNOWN_KEY"),
        (YML.replace("ddl:", "dld:"), 1, "UNKNOWN_KEY"),
        (YML.replace("transform:", "transfrom:"), 2, "UNKNOWN_KEY"),
        (YML.replace("hoodieincr.path", "hoodieincr.paht"), 4, "UNKNOWN_KEY"),
        (YML.replace("index.num.buckets", "index.num.bukets"), 6, "UNKNOWN_KEY"),
        (YML.replace("num.buckets: 2", "num.buckets:"), 6, "WRONG_TYPE"),
        (YML.replace('{{ var.raw_root }}/events"', "").replace('path: "', "path:"), 4, "WRONG_TYPE"),
        (YML.replace("hoodie:\n", "hoodie:\nhoodie:\n"), 4, "DUPLICATE_KEY"),
        (YML.replace("transform:", "transform:\ntransform:"), 3, "DUPLICATE_KEY"),
        (yml("checks: [{name: 'a select 1 from x', severity: fail}]"), 7, "BAD_NAME"),
        (yml("vars: {n: }").replace("events", "{{ var.n }}"), 7, "WRONG_TYPE"),
        (yml("vars: {n: [1]}").replace("events", "{{ var.n }}"), 7, "WRONG_TYPE"),
        (yml("vars:", "  n 1").replace("events", "{{ var.n }}"), 7, "WRONG_TYPE"),
    ],
)
def test_problems_of_a_pipeline(tmp_path: Path, problems_of: Check, text: str, line: int, code: str) -> None:
    (tmp_path / "out").symlink_to("/tmp")
    found = problems_of({YML_FILE: text})
    assert seen(found) == ([(YML_FILE, line, code)] if code else []), "one mistake is reported once, not as a cascade"


def test_a_misspelt_promise_is_taken_for_what_it_means(problems_of: Check) -> None:
    """A value that only counts where another file asks for it: a bucket index on partitions needs the promise."""
    ddl = PAYMENTS.replace("updated_at TIMESTAMP", "updated_at TIMESTAMP, day STRING NOT NULL").replace(
        "USING hudi", "USING hudi PARTITIONED BY (day)"
    )
    # So is what a config that cannot be read may have said.
    broken = {"configs/base.yml": BASE + "hoodie {\n", YML_FILE: yml(without="num.buckets")}
    assert [one[2] for one in seen(problems_of(broken))] == ["YAML_SYNTAX"]
    for said, code in (("", "WRONG_TYPE"), ("[a]", "WRONG_TYPE"), ("'{{ var.nope }}'", "UNDEFINED_VARIABLE")):
        base = BASE.replace('derived: "{{ var.derived_root }}"', f"derived: {said}")
        assert [(one[0], one[2]) for one in seen(problems_of({"configs/base.yml": base}))] == [("configs/base.yml", code)]
    for written, found in (("partition_is_stable", []), ("partition_is_stabel", [(YML_FILE, 7, "UNKNOWN_KEY")])):
        assert seen(problems_of({DDL_FILE: ddl, YML_FILE: yml(f"{written}: true")})) == found
    # What is no such value is not taken for one.
    assert seen(problems_of({YML_FILE: yml("target: {table: x}")})) == [(YML_FILE, 7, "UNKNOWN_KEY")]
    assert seen(problems_of({YML_FILE: yml("owners: [a, b]")})) == [(YML_FILE, 7, "UNKNOWN_KEY")]
    assert [one[2] for one in seen(problems_of({YML_FILE: yml("  hoodie.streamer.source.hoodieincr.num_instant: x")}))] == [
        "UNKNOWN_KEY"
    ]


@pytest.mark.parametrize(
    ("path", "content", "line", "code"),
    [
        ("transformers/payments.sql", "SELECT 1", 0, "SOURCE_NOT_USED"),
        ("transformers/payments.sql", "-- <SRC>\n", 1, "EMPTY_SQL"),
        ("transformers/payments.sql", "SELECT '\n{{ env.HOME }}' FROM <SRC>", 2, "UNDEFINED_VARIABLE"),
        ("transformers/payments.sql", b"\xff\xfe", 1, "NOT_TEXT"),
        ("transformers/payments.sql", b"x" * (1024 * 1024 + 1), 0, "FILE_TOO_LARGE"),
        (DDL_FILE, PAYMENTS.replace("primaryKey = 'id', ", ""), 1, "MISSING_PRIMARY_KEY"),
        (DDL_FILE, PAYMENTS.replace("preCombineField = 'updated_at', ", ""), 1, "MISSING_ORDERING_FIELD"),
        (DDL_FILE, PAYMENTS.replace("'id'", "'idd'"), 7, "UNKNOWN_COLUMN"),
        (DDL_FILE, PAYMENTS.replace("'cow'", "'cwo'"), 7, "BAD_VALUE"),
        (DDL_FILE, PAYMENTS.replace("derived.", "derved."), 1, "UNKNOWN_DATABASE"),
        (DDL_FILE, PAYMENTS.replace("derived.", ""), 1, "MISSING_DATABASE"),
        (DDL_FILE, PAYMENTS.replace("'cow'", "'cow', hoodie.compact.inlin = true"), 7, "UNKNOWN_KEY"),
        (
            DDL_FILE,
            PAYMENTS.replace("amount DECIMAL(10,2)", "amount ARRAY<INT>").replace("'id'", "'amount'"),
            7,
            "UNSUPPORTED_TYPE",
        ),
        ("configs/base.yml", BASE + "ddl: x", 3, "MISPLACED_KEY"),
        ("configs/base.yml", BASE + "hoodie: {hoodie.nope: 1}", 3, "UNKNOWN_KEY"),
        ("configs/base.yml", BASE.replace("data/derived", "'{{ var.raw_root }}'"), 1, "UNDEFINED_VARIABLE"),
    ],
)
def test_problems_of_other_files(problems_of: Check, path: str, content: str | bytes, line: int, code: str) -> None:
    found = seen(problems_of({path: content}))
    place = (YML_FILE, 2) if code == "SOURCE_NOT_USED" else (path, line)
    assert (*place, code) in found


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("def transform(inputs, context):\n    return x(\n", 2, "PYTHON_SYNTAX"),
        ("def transfrom(inputs, context): pass", 0, "NO_TRANSFORM_FUNCTION"),
        ("\ndef transform(inputs): pass", 2, "NO_TRANSFORM_FUNCTION"),
        ("class A:\n    def transform(self, context): pass", 0, "NO_TRANSFORM_FUNCTION"),
        ("def transform(inputs, context, *, x): pass", 1, "NO_TRANSFORM_FUNCTION"),
        ("(" * 5000, 1, "PYTHON_SYNTAX"),
        ("def transform(a, b, c=1): pass", 0, ""),
    ],
)
def test_python_steps(problems_of: Check, text: str, line: int, code: str) -> None:
    found = problems_of({"transformers/p.py": text, YML_FILE: YML.replace("transformers/payments.sql", "[transformers/p.py]")})
    assert seen(found) == ([("transformers/p.py", line, code)] if code else [])


def test_a_config_is_a_default_for_the_ddl(tmp_path: Path) -> None:
    files = {
        "configs/base.yml": BASE + "hoodie: {hoodie.index.type: BUCKET, hoodie.compact.inline: false}\n",
        DDL_FILE: PAYMENTS.replace("'cow'", "'cow', hoodie.compact.inline = 'true', hoodie.index.type = 'RECORD_INDEX'"),
    }
    (spec,) = load_project(a_project(tmp_path, files=files), environ={}).pipelines
    assert spec.index.type == "RECORD_INDEX"
    assert spec.write_options == {"hoodie.compact.inline": "true"}


def test_layers_and_overrides(tmp_path: Path) -> None:
    root = a_project(
        tmp_path,
        files={
            "configs/base.yml": BASE + "lease: {wait_seconds: 1}\nspark: {spark.a: 1.10, spark.b: on}\n",
            "configs/prod.yml": "spark: {spark.b: 'x'}\nvars: {raw_root: 's3a://Lake//raw/'}\n",
        },
    )
    (spec,) = load_project(
        root,
        "prod",
        ["lease.wait_seconds=5", "lease.across_machines=true", "spark.c=2", "hoodie.compact.inline=TRUE"],
        environ={},
    ).pipelines
    assert (spec.lease_wait_seconds, spec.lease_across_machines) == (5, True)
    assert spec.spark_conf == {"spark.a": "1.10", "spark.b": "x", "spark.c": "2"}
    assert spec.source.table.path == "s3a://Lake/raw/events"
    assert (spec.source.table.name, spec.write_options) == ("raw.events", {"hoodie.compact.inline": "true"})
    assert spec.variables == {"raw_root": "s3a://Lake//raw/", "derived_root": "data/derived"}


def test_problems_of_overrides(problems_of: Check) -> None:
    found = problems_of(overrides=["nope", "vras.x=1", "vars=1", "hoodie.compact.inlin=true", "vars.ok=1"])
    assert seen(found) == [
        ("--set", 1, "INVALID_OVERRIDE"),
        ("--set", 2, "UNKNOWN_KEY"),
        ("--set", 3, "INVALID_OVERRIDE"),
        ("--set", 4, "UNKNOWN_KEY"),
    ]


def chain(*links: tuple[str, str]) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {}
    for name, source in links:
        files |= {
            f"ddl/{name}.sql": DDL.format(name=name),
            f"transformers/{name}.sql": SQL,
            f"pipelines/{name}.yml": PIPELINE.format(name=name, source=source).replace("var.raw_root", "var.derived_root"),
        }
    return files


def test_pipelines_come_in_order(tmp_path: Path) -> None:
    root = a_project(tmp_path, files=chain(("a", "z"), ("z", "payments"), ("b", "payments")))
    project = load_project(root, environ={})
    assert [p.name for p in project.pipelines] == ["payments", "b", "z", "a"]
    assert project.upstream == {"payments": (), "b": ("payments",), "z": ("payments",), "a": ("z",)}
    assert [p.name for p in load_project(root, names=["a", "payments"], environ={}).pipelines] == ["payments", "a"]


def test_cycles_and_double_targets(problems_of: Check) -> None:
    files = chain(("a", "b"), ("b", "c"), ("c", "a"), ("own", "own"))
    files["ddl/d.sql"] = DDL.format(name="payments")
    files["pipelines/d.yml"] = PIPELINE.format(name="d", source="x").replace("transformers/d", "transformers/payments")
    found = problems_of(files)
    assert seen(found) == [
        ("pipelines/a.yml", 4, "CYCLE"),
        ("pipelines/own.yml", 4, "CYCLE"),
        (YML_FILE, 4, "DUPLICATE_TARGET"),
    ]
    assert "a -> c -> b -> a" in found[0].message


def test_others_problems_do_not_count(problems_of: Check) -> None:
    broken = {"pipelines/broken.yml": "a: [", "pipelines/odd.yml": "ddl: nope.sql\ntags: [odd]\n"}
    assert problems_of(broken, names=["payments"]) == []
    assert {p.file for p in problems_of(broken)} == {"pipelines/broken.yml", "pipelines/odd.yml"}
    assert {p.file for p in problems_of({"pipelines/broken.yml": "ddl: nope.sql\n"}, tags=["odd"])} == {"pipelines/odd.yml"}


@pytest.mark.parametrize("selection", [{"tags": ["a"]}, {"tags": ["b"]}, {"tags": ["a"], "names": ["payments"]}])
def test_a_file_whose_tags_cannot_be_read_is_a_problem_of_tags(problems_of: Check, selection: dict[str, list[str]]) -> None:
    files: dict[str, str | bytes] = {YML_FILE: yml("tags: [a]"), "pipelines/broken.yml": "tags: [b]\nddl: ["}
    assert {p.file for p in problems_of(files, **selection)} == {"pipelines/broken.yml"}
    assert problems_of(files, names=["payments"]) == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"names": ["paymets"]}, "UNKNOWN_PIPELINE"),
        ({"tags": ["x"]}, "UNKNOWN_TAG"),
        ({"names": ["payments"], "tags": ["x"]}, "UNKNOWN_TAG"),
        ({"env": "prdo"}, "UNKNOWN_ENV"),
        ({"env": "../x"}, "UNKNOWN_ENV"),
    ],
)
def test_wrong_selections(problems_of: Check, options: dict[str, object], code: str) -> None:
    found = problems_of({"configs/prod.yml": ""}, **options)
    assert [p.code for p in found] == [code]


def test_folders_and_names(tmp_path: Path, problems_of: Check) -> None:
    with pytest.raises(SpecError, match="NO_PIPELINES"):
        load_project(tmp_path / "nothing", environ={})
    found = problems_of({"pipelines/payments.yaml": YML, "pipelines/a b.yml": YML, "pipelines/LOUD.YML": YML})
    assert {(p.file, p.code) for p in found} == {
        ("pipelines/a b.yml", "BAD_NAME"),
        (YML_FILE, "DUPLICATE_PIPELINE"),
        ("pipelines/LOUD.YML", "BAD_NAME"),
    }


def test_what_changes_the_fingerprint(tmp_path: Path) -> None:
    def fingerprint(files: dict[str, str | bytes], overrides: tuple[str, ...] = ()) -> str:
        return load_project(a_project(tmp_path, files=files), None, overrides, environ={}).pipelines[0].fingerprint

    first = fingerprint({})
    assert fingerprint({YML_FILE: yml("owner: me", "tags: x", "schedule: '* * * * *'", "lease: {wait_seconds: 3}")}) == first
    assert fingerprint({YML_FILE: yml("  hoodie.compact.inline: true")}) != first
    assert fingerprint({YML_FILE: YML, "transformers/payments.sql": SQL + "WHERE id > 1"}) != first


def test_what_stands_apart_of_the_fingerprint_is_a_field() -> None:
    """A field that was renamed would be part of it again, unseen."""
    assert {kind.__name__: apart - {one.name for one in fields(kind)} for kind, apart in APART.items()} == {
        kind.__name__: set() for kind in APART
    }


def test_the_work_of_loading_grows_with_the_number_of_pipelines(tmp_path: Path) -> None:
    """And not with its square. How many seconds it takes, `python -m tests.benchmarks --only control-plane` measures."""

    def work(count: int) -> int:
        # Names of its own, so that nothing is known of an earlier project.
        names = [f"n{count}x{number}" for number in range(count + 1)]
        root = a_project(tmp_path / f"{count}", files=chain(*zip(names[1:], names, strict=False)))
        return calls(lambda: load_project(root, environ={}))

    work(2)  # what is loaded once
    assert work(80) < 2.5 * work(40)


def test_links_out_of_the_project_are_refused(tmp_path: Path, problems_of: Check) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.sql"
    outside.write_text(PAYMENTS)
    (tmp_path / "ddl").mkdir()
    os.symlink(outside, tmp_path / "ddl/link.sql")
    found: list[Problem] = problems_of({YML_FILE: YML.replace("ddl/payments.sql", "ddl/link.sql")})
    assert seen(found) == [(YML_FILE, 1, "PATH_OUTSIDE_PROJECT")]


@pytest.mark.parametrize("base", [b"a: [", b"vars: {x: \xff}", b"vars: !x {}"])
def test_a_broken_config_is_reported_alone(problems_of: Check, base: bytes) -> None:
    assert {p.file for p in problems_of({"configs/base.yml": base})} == {"configs/base.yml"}


def test_start_and_end_are_texts_of_a_backfill(tmp_path: Path, problems_of: Check) -> None:
    sql = {"transformers/payments.sql": "SELECT * FROM <SRC>\nWHERE day >= '{{ start }}'\n"}
    (found,) = problems_of(sql)
    assert (found.file, found.line, found.code) == ("transformers/payments.sql", 2, "UNDEFINED_VARIABLE")
    assert "backfill" in found.hint
    (spec,) = load_project(tmp_path, environ={}, window=("2026-01-01", "2026-01-02")).pipelines
    assert "'2026-01-01'" in spec.transform[0].statements[0].text


def test_problems_of_secrets_in_vars_reach_sql_redacted(problems_of: Check) -> None:
    (found,) = problems_of(
        {YML_FILE: yml("vars: {token: '{{ env.TOKEN }}'}"), "transformers/payments.sql": "DROP {{ var.token }}"},
        environ={"TOKEN": "hunter2hunter2"},
    )[:1]
    assert "hunter2" not in str(found)


def test_a_tag_hides_no_problem(problems_of: Check) -> None:
    found = problems_of({YML_FILE: yml("tags: [a]", "owner: x", "owner: y")}, tags=["a"])
    assert seen(found) == [(YML_FILE, 9, "DUPLICATE_KEY")]


def test_lineage_knows_s3a_for_s3(tmp_path: Path) -> None:
    base = BASE.replace("derived_root: data/derived", "derived_root: s3a://lake/derived")
    a_project(tmp_path, files={"configs/base.yml": base})
    downstream = yml().replace("payments", "totals").replace("{{ var.raw_root }}/events", "s3://lake/derived/payments")
    a_project(tmp_path, "totals", files={"configs/base.yml": base, "pipelines/totals.yml": downstream})
    assert load_project(tmp_path, environ={}).upstream["totals"] == ("payments",)
