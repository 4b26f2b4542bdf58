"""``freshet init``: what it scaffolds validates, and nothing that stands is touched."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from freshet.cli.sample_data import order_files
from tests.unit.cli.conftest import Freshet, parsed


def _contents(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_a_scaffolded_project_validates_and_compiles(freshet: Freshet, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "one"
    made = freshet("init", str(folder))
    assert (made.exit_code, made.stderr) == (0, "")
    assert [line.strip() for line in made.stdout.partition("next:\n")[2].splitlines()] == [
        f"cd {folder}",
        "freshet land raw.orders FILE.csv --key id --ordering updated_at",
        "freshet validate",
        "freshet run order_totals",
    ]
    assert sorted(_contents(folder)) == [
        ".gitignore",
        "configs/base.yml",
        "configs/local.yml",
        "configs/pipeline.schema.json",
        "ddl/order_totals.sql",
        "pipelines/order_totals.yml",
        "pipelines/tests/order_totals.yml",
        "transformers/order_totals.sql",
    ]
    assert freshet("validate", "-C", str(folder)).stdout.splitlines()[0] == "1 pipeline: no problems"
    assert freshet("compile", "-C", str(folder)).exit_code == 0


def test_the_first_line_names_the_schema_that_stands_there(freshet: Freshet, tmp_path: Path) -> None:
    freshet("init", str(tmp_path))
    first = (tmp_path / "pipelines/order_totals.yml").read_text().splitlines()[0]
    assert (tmp_path / "pipelines" / first.partition("$schema=")[2]).is_file()


def test_one_more_pipeline(freshet: Freshet, tmp_path: Path) -> None:
    freshet("init", str(tmp_path))
    added = parsed(freshet("init", str(tmp_path), "--pipeline", "refunds", "--source", "paybacks", "--output", "json"))
    assert (added["folder"], added["next"]) == (str(tmp_path), f"cd {tmp_path}")
    assert added["files"] == [
        "ddl/refunds.sql",
        "pipelines/refunds.yml",
        "pipelines/tests/refunds.yml",
        "transformers/refunds.sql",
    ]
    found = parsed(freshet("validate", "-C", str(tmp_path), "--output", "json"))["pipelines"]
    assert {p["name"]: p["source"] for p in found} == {
        "order_totals": str(tmp_path / "warehouse/raw/orders"),
        "refunds": str(tmp_path / "warehouse/raw/paybacks"),
    }


def test_one_more_pipeline_finds_the_raw_tables_of_any_project(freshet: Freshet, root: Path) -> None:
    (root / "configs/base.yml").write_text(
        (root / "configs/base.yml").read_text() + "hoodie: {hoodie.bucket.index.num.buckets: 2}\n"
    )
    assert freshet("init", str(root), "--pipeline", "refunds").exit_code == 0
    found = parsed(freshet("validate", "refunds", "--output", "json"))["pipelines"]
    assert found[0]["source"] == str(root / "data/raw/orders")


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("flights", "warehouse/raw/flights"),
        ("raw.flights", "warehouse/raw/flights"),
        ("derived.flights", "warehouse/derived/flights"),
    ],
)
def test_a_source_is_named_as_tables_are(freshet: Freshet, tmp_path: Path, source: str, path: str) -> None:
    """By database and table, as in every other place; a bare name is a raw table's, as it was."""
    freshet("init", str(tmp_path), "--source", source)
    found = parsed(freshet("validate", "-C", str(tmp_path), "--output", "json"))["pipelines"]
    assert found[0]["source"] == str(tmp_path / path)


def test_the_sample_files_are_the_same_everywhere() -> None:
    """Whatever the machine and the day: the README and the first hour's test count their rows."""
    assert [(hashlib.sha256(text.encode()).hexdigest()[:16], text.count("\n")) for text in order_files()] == [
        ("ee857c2d416232bb", 3001),
        ("c1111dcf775c85b9", 252),
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--source", "row.flights"), "has no database 'row'"),
        (("--source", "a.b.c"), "is not a name"),
        (("--source", "raw."), "is not a name"),
        (("--pipeline", "x", "--with-sample-data"), "goes not with --pipeline"),
    ],
)
def test_a_source_that_no_warehouse_has(freshet: Freshet, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    refused = freshet("init", str(tmp_path / "p"), *words)
    assert refused.exit_code == 2
    assert said in " ".join(refused.stderr.split())
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("standing", ["pipelines/order_totals.yml", "configs/base.yml"])
def test_nothing_is_written_where_one_file_stands(freshet: Freshet, tmp_path: Path, standing: str) -> None:
    folder = tmp_path / "new"
    path = folder / standing
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    refused = freshet("init", str(folder))
    assert refused.exit_code == 1
    assert "FILE_EXISTS" in refused.stderr
    assert standing in refused.stderr
    assert _contents(folder) == {standing: "mine"}


def test_a_gitignore_that_stands_is_left(freshet: Freshet, tmp_path: Path) -> None:
    """A project begins in a repository, and that has one."""
    (tmp_path / ".gitignore").write_text("mine")
    done = freshet("init", str(tmp_path))
    assert (done.exit_code, (tmp_path / ".gitignore").read_text()) == (0, "mine")
    assert "as it is: it should have the lines warehouse/, .freshet/" in done.stdout
    assert freshet("validate", "-C", str(tmp_path)).exit_code == 0


def test_a_link_to_nowhere_is_not_written_through(freshet: Freshet, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".gitignore").symlink_to(tmp_path / "elsewhere")
    assert freshet("init", str(tmp_path / "new")).exit_code == 1
    assert not (tmp_path / "elsewhere").exists()


def test_a_pipeline_needs_a_project(freshet: Freshet, tmp_path: Path) -> None:
    refused = freshet("init", str(tmp_path / "empty"), "--pipeline", "refunds", "--output", "json")
    assert (refused.exit_code, parsed(refused)["error"]["code"]) == (1, "NOT_A_PROJECT")
    assert not (tmp_path / "empty").exists()


@pytest.mark.parametrize("option", ["--pipeline", "--source"])
@pytest.mark.parametrize("name", ["../x", "Refunds", "9", "a-b", "", "a\n"])
def test_a_name_is_a_name(freshet: Freshet, tmp_path: Path, option: str, name: str) -> None:
    refused = freshet("init", str(tmp_path / "p"), option, name)
    assert refused.exit_code == 2
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("size", "buckets", "said"),
    [
        (None, "1", "100.0MB"),
        ("2GB", "16", "2.0GB"),
        ("1.5 TB", "11921", "1.5TB"),
        ("700", "1", "700B"),
    ],
)
def test_the_buckets_follow_from_what_a_partition_will_hold(
    freshet: Freshet,
    tmp_path: Path,
    size: str | None,
    buckets: str,
    said: str,
) -> None:
    freshet("init", str(tmp_path), *(("--partition-size", size) if size else ()))
    assert f"For partitions of some {said}, one for" in (tmp_path / "pipelines/order_totals.yml").read_text()
    plan = parsed(freshet("compile", "-C", str(tmp_path), "--output", "json"))["plans"][0]
    options = next(stage["options"] for stage in plan["stages"] if stage["stage"] == "commit")
    assert options["hoodie.bucket.index.num.buckets"] == buckets


@pytest.mark.parametrize("size", ["", "large", "-1GB", "2XB", "nan", "1e400 GB", "2GB\nhoodie: {}", "1.2.3GB"])
def test_a_size_is_a_size(freshet: Freshet, tmp_path: Path, size: str) -> None:
    refused = freshet("init", str(tmp_path / "p"), "--partition-size", size)
    assert refused.exit_code == 2
    assert "is not a size: write one such as 500MB or 2GB." in " ".join(refused.stderr.split())
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("name", ["select", "values", "minus", "order_totals2"])
def test_a_pipeline_may_have_the_name_of_a_word_of_sql(freshet: Freshet, tmp_path: Path, name: str) -> None:
    """What is written validates; a name that is no such word stands without backticks."""
    freshet("init", str(tmp_path))
    assert freshet("init", str(tmp_path), "--pipeline", name).exit_code == 0
    assert freshet("validate", "-C", str(tmp_path)).stdout.splitlines()[0] == "2 pipelines: no problems"
    assert ("`" in (tmp_path / f"ddl/{name}.sql").read_text()) == (name != "order_totals2")


PATTERN, MORE = ("--pattern", "fact"), ("--pipeline", "refunds")


@pytest.mark.parametrize(
    ("config", "words", "code"),
    [
        ("vars: {a: 1}\n", PATTERN, "UNKNOWN_DATABASE"),
        ("warehouse: {derived: w/d}\n", PATTERN, "UNKNOWN_DATABASE"),
        ("warehouse: {raw: w/r}\n", PATTERN, "UNKNOWN_DATABASE"),
        ("warehouse: {raw: w/r}\n", MORE, "UNKNOWN_DATABASE"),
        ("warehouse: [1\n", PATTERN, "YAML_SYNTAX"),
        ("warehouse: [1\n", MORE, "YAML_SYNTAX"),
        ("warehouse: {raw: a, raw: b}\n", MORE, "DUPLICATE_KEY"),
        (b"warehouse: {raw: caf\xe9}\n", PATTERN, "NOT_TEXT"),
        (b"warehouse: {raw: caf\xe9}\n", MORE, "NOT_TEXT"),
        (None, MORE, "NOT_A_FILE"),
        (None, PATTERN, "NOT_A_FILE"),
    ],
)
def test_nothing_is_added_to_a_project_that_it_would_not_fit(
    freshet: Freshet,
    tmp_path: Path,
    config: str | bytes | None,
    words: tuple[str, ...],
    code: str,
) -> None:
    """A config that cannot be read or parsed, or no database for what the new pipelines read and write. None is a folder."""
    file = tmp_path / "configs/base.yml"
    file.parent.mkdir()
    if config is None:
        file.mkdir()
    else:
        file.write_bytes(config if isinstance(config, bytes) else config.encode())
    before = sorted(tmp_path.rglob("*"))
    done = freshet("init", str(tmp_path), *words, "--output", "json")
    error = parsed(done)["error"]
    assert (done.exit_code, [(one["code"], one["file"]) for one in error["details"]["problems"]][:1]) == (
        3,
        [(code, "configs/base.yml")],
    ), error
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("words", [PATTERN, MORE])
def test_a_database_may_stand_in_an_environment_and_a_config_end_in_yaml(
    freshet: Freshet,
    tmp_path: Path,
    words: tuple[str, ...],
) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/base.yaml").write_text("hoodie: {hoodie.index.type: BUCKET}\nwarehouse: {raw: w/raw}\n")
    (tmp_path / "configs/local.yml").write_text("warehouse: {derived: w/derived}\n")
    assert freshet("init", str(tmp_path), *words).exit_code == 0
    assert not (tmp_path / "configs/base.yml").exists()
    assert freshet("validate", "-C", str(tmp_path)).exit_code == 0


@pytest.mark.parametrize("words", [(), PATTERN])
@pytest.mark.parametrize("place", ["/proc/nowhere/p", "/dev/null/p", "configs as a file", "x" * 300])
def test_a_folder_that_cannot_be_written(freshet: Freshet, tmp_path: Path, place: str, words: tuple[str, ...]) -> None:
    folder = tmp_path / place
    if place == "configs as a file":
        folder = tmp_path
        (tmp_path / "configs").write_text("mine")
    done = freshet("init", str(folder), *words, "--output", "json")
    error = parsed(done)["error"]
    assert (done.exit_code, error["code"]) == (5, "NOT_WRITABLE"), error
    assert error["effect"] == "Nothing was written."
    assert "checkpoint" not in done.stderr


def test_what_was_written_before_it_failed_is_gone(freshet: Freshet, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "transformers").write_text("mine")
    done = freshet("init", str(folder), "--output", "json")
    error = parsed(done)["error"]
    assert (done.exit_code, error["code"], error["effect"]) == (5, "NOT_WRITABLE", "Nothing was written.")
    assert _contents(folder) == {"transformers": "mine"}
