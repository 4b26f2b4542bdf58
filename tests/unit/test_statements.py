"""Cutting SQL files into statements."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.project.syntax.statements import check_statements, mentions_source, split_statements


def texts(sql: str) -> list[str]:
    return [s.text.strip() for s in split_statements(sql)]


def codes(sql: str) -> list[tuple[int, str]]:
    return [(p.line, p.code) for p in check_statements(split_statements(sql))]


def test_several_statements_with_their_lines() -> None:
    found = split_statements("-- the first\nselect 1;\n\n/* two\nlines */ select\n 2 ; select 3")
    assert [(s.text.strip(), s.line) for s in found] == [("select 1", 2), ("select\n 2", 5), ("select 3", 6)]


@pytest.mark.parametrize(
    "statement",
    [
        "select ';'",
        "select 'it''s; here'",
        r"select 'a\';b'",
        'select ";"',
        "select `a;b`",
        "select `a``;b`",
        "select 1 -- not; here\n, 2",
        "select /* a; b */ 1",
        "select '--;', 1",
        "select '/*;', 1",
        "select \"'\", ';'",
    ],
)
def test_a_semicolon_in_a_literal_name_or_comment_cuts_nothing(statement: str) -> None:
    assert texts(f"{statement}; select 2") == [statement, "select 2"]


@pytest.mark.parametrize("sql", ["", "  \n\t", ";;;", "-- nothing", "/* nothing */ ; -- still nothing\n"])
def test_a_file_without_statements(sql: str) -> None:
    assert split_statements(sql) == ()
    assert codes(sql) == [(1, "EMPTY_SQL")]


@pytest.mark.parametrize("sql", ["select 'open; select 2", "select 1 /* open; select 2", "select `open; select 2"])
def test_what_is_never_closed_reaches_the_end_and_is_left_to_spark(sql: str) -> None:
    assert texts(sql) == [sql]


def test_first_line_is_padded_so_that_columns_are_those_of_the_file() -> None:
    sql = "select 1;  select x,\n y from t"
    second = split_statements(sql)[1]
    assert second.text == "           select x,\n y from t".replace("           ", " " * sql.index("select x"), 1)
    assert second.text.index("x") == sql.index("x")


def test_padding_counts_from_the_line_not_from_the_file() -> None:
    assert split_statements("select 1;\n  select 2")[1].text == "  select 2"


def test_the_source_mark_becomes_a_name_of_the_same_length() -> None:
    (found,) = split_statements("select * from <SRC> s join <SRC> t using (id)")
    assert found.text == "select * from `SRC` s join `SRC` t using (id)"


@pytest.mark.parametrize(
    "kept",
    [
        "select '<SRC>'",
        'select "<SRC>"',
        "select 1 -- from <SRC>",
        "select /* <SRC> */ 1",
        "select `<SRC>`",
    ],
)
def test_the_source_mark_in_a_literal_name_or_comment_stays(kept: str) -> None:
    assert texts(kept) == [kept]
    assert not mentions_source(kept)


def test_the_source_mark_is_found_after_a_quoted_one() -> None:
    assert mentions_source("select '<SRC>' from <SRC>")
    assert not mentions_source("select * from SRC")


@pytest.mark.parametrize(
    "sql",
    [
        "select 1",
        "SELECT 1",
        "with a as (select 1) select * from a",
        "(select 1) union all (select 2)",
        "( (select 1) )",
        "values (1), (2)",
        "table cities",
        "from cities select *",
        "-- why\nselect 1",
        "select /*+ BROADCAST(c) */ 1 from c",
        "create temporary view v as select 1; select * from v",
        "create or replace temp view v as select 1; table v",
        "cache table v; select 1",
        "set spark.sql.ansi.enabled=true; select 1",
        "select 'insert into x'",
        "select `insert into x` from t",
        "with a as (select 1 as update) select update from a",
    ],
)
def test_what_only_reads_is_allowed(sql: str) -> None:
    assert codes(sql) == []


@pytest.mark.parametrize(
    "sql",
    [
        "insert into raw.trips select * from <SRC>",
        "INSERT OVERWRITE raw.trips select 1",
        "drop table raw.trips",
        "create table x as select 1",
        "create or replace table x as select 1",
        "create view v as select 1",
        "delete from raw.trips",
        "merge into x using y on a = b when matched then delete",
        "update raw.trips set a = 1",
        "truncate table raw.trips",
        "alter table raw.trips add columns (a int)",
        "call run_clustering(table => 'x')",
        "/* select */ drop table raw.trips",
        "use other",
        "add jar 'x.jar'",
        "begin select 1",
    ],
)
def test_what_writes_is_refused_at_its_line(sql: str) -> None:
    assert codes(f"select 1;\n{sql};\nselect 2") == [(2, "SQL_NOT_ALLOWED")]


@pytest.mark.parametrize(
    "sql",
    [
        "with a as (select 1) insert into raw.trips select * from a",
        "with a as (select 1), b (x) as (select ')' from a)\n INSERT OVERWRITE raw.trips select * from b",
        "with a as (select 1) delete from raw.trips where id in (select * from a)",
        "with a as (select 1) update raw.trips set x = 1",
        "with a as (select 1) merge into raw.trips using a on true when matched then delete",
        "from raw.trips insert into x select *",
        "from raw.trips insert overwrite table x select * insert into y select *",
        "with a as (select 1) from a insert into x select *",
    ],
)
def test_a_write_behind_a_query_s_beginning_is_refused(sql: str) -> None:
    assert codes(sql) == [(1, "SQL_NOT_ALLOWED")]


def test_every_refused_statement_is_named() -> None:
    assert codes("drop table a;\nselect 1;\ndrop table b") == [(1, "SQL_NOT_ALLOWED"), (3, "SQL_NOT_ALLOWED")]
    problems = check_statements(split_statements("drop   -- all\n table raw.trips cascade"))
    assert "'drop table raw.trips'" in problems[0].message


@pytest.mark.parametrize("last", ["create temporary view v as select 1", "cache table v", "set a=b"])
def test_the_last_statement_must_be_a_query(last: str) -> None:
    assert codes(f"select 1;\n{last};\n") == [(2, "SQL_NO_RESULT")]


PIECES = st.sampled_from(["select 1", "';'", '"a;b"', "`;`", "-- ;\n", "/* ; */", " ", "\n", "x", ",", "<SRC>", "(", ")"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=6), max_size=5))
def test_only_bare_semicolons_cut_and_nothing_is_lost(parts: list[list[str]]) -> None:
    sql = ";".join("".join(part) for part in parts)
    statements = split_statements(sql)
    assert len(statements) <= max(len(parts), 1)
    for statement in statements:
        # Every statement stands in the file where it says.
        rest = "\n".join(sql.replace("<SRC>", "`SRC`").split("\n")[statement.line - 1 :])
        assert rest[len(statement.text) - len(statement.text.lstrip()) :].startswith(statement.text.lstrip())


def test_a_long_list_of_ctes_is_judged_at_once() -> None:
    sql = "with " + ", ".join(f"alias{n}as (select {n})" for n in range(2_000))
    # Where each name is looked for behind each other one, this does not end before the test is ended.
    assert codes(f"{sql} select 1") == []
    assert codes(f"{sql} update raw.trips set a = 1") == [(1, "SQL_NOT_ALLOWED")]


@pytest.mark.parametrize(
    "text",
    [
        r"SELECT r'\' , ';' AS x FROM <SRC>",
        "SELECT R\"\\\" , ';' AS x FROM <SRC>",
        "/* a /* b */ ; */ SELECT 1 FROM <SRC>",
        "SELECT 1 /* ; /* ; */ ; <SRC> */ FROM <SRC>",
    ],
)
def test_raw_literals_and_nested_comments_are_whole(text: str) -> None:
    (statement,) = split_statements(text)
    assert check_statements((statement,)) == []
    assert statement.text.endswith("FROM `SRC`")
