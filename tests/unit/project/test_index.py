"""The rules of an HBASE index: what it needs, what would break it, who shares a cluster, and what its client is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from tests.kit.project import DDL, PIPELINE, SQL, a_project
from tests.unit.project.conftest import Check, seen

FILE = "pipelines/payments.yml"
HBASE = """\
  hoodie.index.type: HBASE
  hoodie.index.hbase.zkquorum: zk1
  hoodie.index.hbase.zkport: 2181
  hoodie.index.hbase.table: index_of_{name}
"""
# The line of `hoodie.index.type`; the settings of a test follow the last of HBASE's.
TYPE, NEXT = 7, 11


def yml(*lines: str, without: str = "", name: str = "payments", top: str = "") -> str:
    text = PIPELINE.format(name=name, source="events") + HBASE.format(name=name)
    kept = [line for line in text.splitlines() if not without or without not in line]
    return "\n".join([*kept, *(f"  {line}" for line in lines), *([top] if top else [])]) + "\n"


def others(*pipelines: tuple[str, str]) -> dict[str, str | bytes]:
    """Return the files of further pipelines on the same cluster, each with a line of its own."""
    found: dict[str, str | bytes] = {}
    for name, line in pipelines:
        found |= {
            f"pipelines/{name}.yml": yml(*([line] if line else []), name=name),
            f"ddl/{name}.sql": DDL.format(name=name),
            f"transformers/{name}.sql": SQL,
        }
    return found


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        (yml(), 0, ""),
        (yml(without="zkquorum"), TYPE, "MISSING_HBASE_SETTING"),
        (yml(without="zkport"), TYPE, "MISSING_HBASE_SETTING"),
        (yml(without="hbase.table"), TYPE, "MISSING_HBASE_SETTING"),
        (yml("hoodie.index.hbase.zknode.path: /other"), 0, ""),
        (yml("hoodie.index.hbase.qps.fraction: 0"), NEXT, "BAD_VALUE"),
        (yml("hoodie.index.hbase.qps.fraction: 1.01"), NEXT, "BAD_VALUE"),
        (yml("hoodie.index.hbase.qps.fraction: -0.5"), NEXT, "BAD_VALUE"),
        (yml("hoodie.index.hbase.qps.fraction: nan"), NEXT, "BAD_VALUE"),
        (yml("hoodie.index.hbase.qps.fraction: 1"), 0, ""),
        (yml("hoodie.index.hbase.qps.fraction: much"), NEXT, "BAD_VALUE"),
        (yml("hoodie.index.hbase.max.qps.per.region.server: 0"), NEXT, "BAD_VALUE"),
        (yml("hoodie.index.hbase.max.qps.per.region.server: -5"), NEXT, "BAD_VALUE"),
        (yml("hoodie.hbase.index.update.partition.path: false"), NEXT, "CONFLICTING_SETTING"),
        (yml("hoodie.index.hbase.rollback.sync: false"), NEXT, "CONFLICTING_SETTING"),
        (yml("hoodie.index.hbase.put.batch.size: 100"), NEXT, "RESERVED_KEY"),
        (yml("hoodie.index.hbase.get.batch.size: 100"), NEXT, "RESERVED_KEY"),
        (yml("hoodie.index.hbase.put.batch.size.autocompute: true"), NEXT, "RESERVED_KEY"),
        (yml("hoodie.index.hbase.qps.allocator.class: x.Y"), NEXT, "RESERVED_KEY"),
        (yml("hoodie.index.hbase.dynamic_qps: true"), NEXT, "RESERVED_KEY"),
        (yml("hoodie.index.hbase.sleep.ms.for.get.batch: 10"), NEXT, "RESERVED_KEY"),
        (yml("hoodie.index.class: x.Y"), NEXT, "RESERVED_KEY"),
        (yml("hoodie.datasource.write.operation: insert"), NEXT, "INSERT_DUPLICATES"),
        (yml("hoodie.index.hbase.security.authentication: kerberos"), NEXT, "MISSING_HBASE_SETTING"),
        (yml(without="hbase.table").rstrip("\n") + "\n  hoodie.index.hbase.table: 'a b'\n", NEXT - 1, "BAD_VALUE"),
        (yml(without="hbase.table").rstrip("\n") + "\n  hoodie.index.hbase.table: 'space:t-1.x'\n", 0, ""),
    ],
)
def test_settings_of_the_index(problems_of: Check, text: str, line: int, code: str) -> None:
    assert sorted(set(seen(problems_of({FILE: text})))) == ([(FILE, line, code)] if code else [])


def test_insert_overwrite_is_refused_even_where_partitions_are_stable(problems_of: Check) -> None:
    ddl = DDL.format(name="payments").replace(
        "TIMESTAMP\n)\nUSING hudi", "TIMESTAMP,\n  day STRING\n)\nUSING hudi\nPARTITIONED BY (day)"
    )
    text = yml(
        "hoodie.datasource.write.operation: insert_overwrite",
        top="partition_is_stable: true\ninputs:\n  rest: {table: raw.events, read: affected_partitions, on: {day: day}}",
    )
    codes = {problem.code for problem in problems_of({FILE: text, "ddl/payments.sql": ddl})}
    assert "OVERWRITE_DUPLICATES" in codes
    assert "OVERWRITE_LOSES_ROWS" not in codes


def test_the_index_is_declared_in_the_yaml_and_not_in_the_ddl(problems_of: Check) -> None:
    ddl = DDL.format(name="payments").replace("type = 'cow'", "type = 'cow', 'hoodie.index.type' = 'HBASE'")
    found = problems_of({FILE: yml(without="index.type"), "ddl/payments.sql": ddl})
    assert ("ddl/payments.sql", "CONFLICTING_SETTING") in {(problem.file, problem.code) for problem in found}


SHARE = "hoodie.index.hbase.qps.fraction"


def test_shares_of_one_cluster_that_come_to_more_than_it_are_refused_with_names(problems_of: Check) -> None:
    files: dict[str, str | bytes] = {FILE: yml(f"{SHARE}: 0.6"), **others(("second", f"{SHARE}: 0.5"))}
    found = problems_of(files)
    assert seen(found) == [(FILE, NEXT, "SHARES_EXCEED_CLUSTER"), ("pipelines/second.yml", NEXT, "SHARES_EXCEED_CLUSTER")]
    assert "payments 0.6" in found[0].message
    assert "second 0.5" in found[0].message
    # Also where one pipeline alone is asked for.
    assert {p.code for p in problems_of(files, names=("second",))} == {"SHARES_EXCEED_CLUSTER"}


def test_shares_that_leave_nothing_for_a_pipeline_without_one_are_refused(problems_of: Check) -> None:
    found = problems_of({FILE: yml(f"{SHARE}: 1"), **others(("second", ""))})
    assert {(p.file, p.code) for p in found} == {
        (FILE, "SHARES_EXCEED_CLUSTER"),
        ("pipelines/second.yml", "SHARES_EXCEED_CLUSTER"),
    }
    assert "second" in found[0].message


def test_shares_of_different_clusters_do_not_add_up(problems_of: Check) -> None:
    other = yml(f"{SHARE}: 0.6", name="second").replace("zk1", "zk2")
    assert problems_of({FILE: yml(f"{SHARE}: 0.6"), **others(("second", "")), "pipelines/second.yml": other}) == []
    # Three tenths written in ten parts are three tenths.
    thirds = others(("second", f"{SHARE}: 0.7"), ("third", f"{SHARE}: 0.1"))
    assert problems_of({FILE: yml(f"{SHARE}: 0.2"), **thirds}) == []


def test_everyone_on_the_cluster_is_known_to_each(tmp_path: Path) -> None:
    a_project(
        tmp_path,
        files={FILE: yml(f"{SHARE}: 0.25", "hoodie.index.hbase.max.qps.per.region.server: 5000"), **others(("second", ""))},
    )
    for names in ((), ("payments",)):
        project = load_project(tmp_path, environ={}, names=names)
        spec = next(one for one in project.pipelines if one.name == "payments")
        assert spec.index.hbase is not None
        assert {name: share for name, (_, share) in spec.index.hbase.shares.items()} == {"payments": 0.25, "second": None}
        assert (spec.index.hbase.cluster, spec.index.hbase.server_rate) == ("zk1:2181:/hbase", 5000)
        assert spec.index.parameters == {"hoodie.index.hbase.table": "index_of_payments"}
        assert "hoodie.index.hbase.qps.fraction" not in spec.write_options


def test_the_client_is_told_spark_settings_and_kerberos(tmp_path: Path) -> None:
    kerberos = [
        "hoodie.index.hbase.security.authentication: kerberos",
        "hoodie.index.hbase.kerberos.user.principal: etl@X",
        "hoodie.index.hbase.kerberos.user.keytab: /etc/etl.keytab",
        "hoodie.index.hbase.master.kerberos.principal: hbase/_HOST@X",
        "hoodie.index.hbase.regionserver.kerberos.principal: hbase/_HOST@X",
    ]
    spark = (
        "spark:\n  spark.hadoop.hbase.rpc.timeout: 5000\n  spark.hadoop.zookeeper.session.timeout: 9000\n  spark.hadoop.fs.x: 1"
    )
    a_project(tmp_path, files={FILE: yml(*kerberos, top=spark)})
    (spec,) = load_project(tmp_path, environ={}).pipelines
    assert spec.index.hbase is not None
    assert spec.index.hbase.client == {
        "hbase.rpc.timeout": "5000",
        "zookeeper.session.timeout": "9000",
        "hbase.security.authentication": "kerberos",
        "hadoop.security.authentication": "kerberos",
        "hbase.security.authorization": "true",
        "freshet.kerberos.principal": "etl@X",
        "freshet.kerberos.keytab": "/etc/etl.keytab",
        "hbase.master.kerberos.principal": "hbase/_HOST@X",
        "hbase.regionserver.kerberos.principal": "hbase/_HOST@X",
    }
    assert spec.spark_conf["spark.freshet.hbase"] == "true"


def test_a_session_of_other_indexes_has_no_settings_of_hbase(tmp_path: Path) -> None:
    (spec,) = load_project(a_project(tmp_path), environ={}).pipelines
    assert "spark.freshet.hbase" not in spec.spark_conf


def test_two_targets_with_one_index_table_are_refused(problems_of: Check) -> None:
    second = yml(name="second").replace("index_of_second", "index_of_payments")
    files: dict[str, str | bytes] = {FILE: yml(), **others(("second", "")), "pipelines/second.yml": second}
    assert [(p.file, p.code) for p in problems_of(files)] == [("pipelines/second.yml", "DUPLICATE_INDEX_TABLE")]
    # On another cluster the name is free.
    assert problems_of({**files, "pipelines/second.yml": second.replace("zk1", "zk2")}) == []
