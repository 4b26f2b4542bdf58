"""The digest of a pipeline's logic: what decides about rows counts, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.project.load.project import load_project
from freshet.project.model.logic import Part, digest_of, digests_by_name
from tests.kit.project import DDL, PIPELINE, SQL, a_project

YML = PIPELINE.format(name="payments", source="events")
PYTHON = 'RATE = 2\n\n\ndef transform(inputs, context):\n    text = """a\n\nb"""\n    return inputs["SRC"]\n'
BOTH = YML.replace("transformers/payments.sql", "[transformers/payments.sql, transformers/payments.py]")
INPUT = "inputs:\n  rates: {table: raw.rates, read: %s}\n" + YML
DROPS = 'checks:\n  - {name: %s, where: "amount < %d", severity: %s}\n' + YML
WINDOWED = SQL.strip() + " {%% if start is defined %%}WHERE updated_at >= '{{ start }}' %s {%% endif %%}\n"


def digest(folder: Path, window: tuple[str, str] | None = None, environ: dict[str, str] | None = None, **files: str) -> str:
    named = {
        "sql": "transformers/payments.sql",
        "yml": "pipelines/payments.yml",
        "ddl": "ddl/payments.sql",
        "py": "transformers/payments.py",
        "base": "configs/base.yml",
    }
    root = a_project(folder, files={named[name]: text for name, text in files.items()})
    return digest_of(load_project(root, environ=environ or {}, window=window).pipelines[0].logic)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"sql": "-- said\nselect id,\n   amount /* in\nall */, updated_at\tFROM   <SRC>  ;"}),
        ({}, {"sql": "{# said #}" + SQL}),
        (
            {"sql": WINDOWED % ""},
            {"sql": "{# {% said %} #}-- said\n" + (WINDOWED % "/* said */ ").replace("WHERE", "WHERE  {# more #}")},
        ),
        (
            {"yml": YML},
            {
                "yml": f"owner: me\nschedule: '5 * * * *'\ntags: [a]\nspark: {{spark.sql.shuffle.partitions: 2}}\n{YML}"
                "  hoodie.compact.inline: false\n  hoodie.clean.commits.retained: 7\n"
                "  hoodie.parquet.compression.codec: gzip\n  hoodie.streamer.source.hoodieincr.num_instants: 9\n"
            },
        ),
        ({}, {"ddl": "-- said\n" + DDL.format(name="payments").replace("DECIMAL(10,2)", " decimal(10, 2) COMMENT 'x'")}),
        ({"yml": BOTH, "py": PYTHON}, {"yml": BOTH, "py": "# said\n" + PYTHON.replace("= 2\n", "= 2  # twice\n\n")}),
        ({"yml": DROPS % ("a", 0, "drop")}, {"yml": DROPS % ("b", 0, "drop")}),
        ({"yml": YML}, {"yml": DROPS % ("a", 0, "fail")}),
        (
            {
                "base": "vars: {raw_root: data/raw, derived_root: data/derived, unused: 1}\n"
                'warehouse: {raw: "{{ var.raw_root }}", derived: "{{ var.derived_root }}"}\n'
            },
            {},
        ),
    ],
    ids=[
        "a SQL's spaces, comments and keywords",
        "a template's comment",
        "those of one that a backfill alone renders",
        "settings, services and schedules",
        "a DDL's comments",
        "a Python's comments",
        "a check's name",
        "a check that drops nothing",
        "a variable that nothing reads",
    ],
)
def test_what_makes_no_row_does_not_count(tmp_path: Path, before: dict[str, str], after: dict[str, str]) -> None:
    assert digest(tmp_path / "a", **before) == digest(tmp_path / "b", **after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"sql": SQL.replace("amount", "amount * 2 AS amount")}),
        ({"sql": SQL.replace("amount", "'a  b' AS amount")}, {"sql": SQL.replace("amount", "'a b' AS amount")}),
        ({"sql": SQL.replace("amount", "'-- a' AS amount")}, {"sql": SQL.replace("amount", "'-- b' AS amount")}),
        ({"sql": SQL.replace("amount", "'A' AS amount")}, {"sql": SQL.replace("amount", "'a' AS amount")}),
        (
            {"sql": SQL.replace("amount", "{{ var.raw_root | length }} AS amount")},
            {"sql": SQL.replace("amount", "9 AS amount")},
        ),
        ({"sql": WINDOWED % ""}, {"sql": WINDOWED % "AND id <> 'a'"}),
        ({"sql": WINDOWED % "{{ '{# a #}' }}"}, {"sql": WINDOWED % "{{ '{# b #}' }}"}),
        ({"yml": BOTH, "py": PYTHON}, {"yml": BOTH, "py": PYTHON.replace("2", "3")}),
        ({"yml": BOTH, "py": PYTHON}, {"yml": BOTH, "py": PYTHON.replace("a\n\nb", "a\nb")}),
        ({}, {"ddl": DDL.format(name="payments").replace("DECIMAL(10,2)", "DECIMAL(12,2)")}),
        ({}, {"yml": INPUT % "snapshot"}),
        ({"yml": INPUT % "snapshot"}, {"yml": INPUT % "incremental, lookback: 24h"}),
        ({"yml": INPUT % "incremental, lookback: 24h"}, {"yml": INPUT % "incremental, lookback: 48h"}),
        ({"yml": YML}, {"yml": DROPS % ("a", 0, "drop")}),
        ({"yml": DROPS % ("a", 0, "drop")}, {"yml": DROPS % ("a", 1, "drop")}),
        ({"yml": YML}, {"yml": YML + "  hoodie.datasource.query.incremental.format: latest_state\n"}),
        ({"yml": YML}, {"yml": YML + "  hoodie.datasource.write.operation: insert\n"}),
        ({"yml": YML}, {"yml": "schema_contract: widen\n" + YML}),
        ({"yml": YML}, {"yml": YML.replace("/events", "/others")}),
        ({"yml": BOTH, "py": PYTHON}, {"yml": "vars: {rate: '2'}\n" + BOTH, "py": PYTHON}),
        ({"yml": YML}, {"yml": "vars: {rate: \"{{ start | default('') }}\"}\n" + YML}),
    ],
    ids=[
        "SQL",
        "spaces in a text",
        "what looks like a comment in a text",
        "a text's case",
        "what a template gives",
        "what a backfill alone does",
        "what looks like a template's comment in a text",
        "Python",
        "an empty line in a Python text",
        "a column's type",
        "an input",
        "how it is read",
        "its look-back",
        "a check that drops",
        "its rule",
        "deletes",
        "operation",
        "the contract",
        "the source",
        "a variable for Python",
        "a variable that a backfill sets",
    ],
)
def test_what_makes_rows_counts(tmp_path: Path, before: dict[str, str], after: dict[str, str]) -> None:
    assert digest(tmp_path / "a", **before) != digest(tmp_path / "b", **after)


def test_folder_secret_and_window_are_not_in_it(tmp_path: Path) -> None:
    """A secret's value may change without a change of the logic, and must not be guessed from a digest."""
    secret = {"yml": "vars: {salt: '{{ env.SALT }}'}\n" + YML, "sql": SQL.replace("amount", "'{{ var.salt }}' AS amount")}
    assert digest(tmp_path / "a", environ={"SALT": "pepper-1"}, **secret) == digest(
        tmp_path / "b", environ={"SALT": "pepper-2"}, **secret
    )


def test_what_changed_is_named(tmp_path: Path) -> None:
    def parts(folder: Path) -> dict[str, str]:
        return digests_by_name(load_project(folder, environ={}).pipelines[0].logic)

    root = a_project(tmp_path, files={"pipelines/payments.yml": INPUT % "snapshot"})
    before = parts(root)
    a_project(
        tmp_path,
        files={
            "pipelines/payments.yml": DROPS.replace(YML, INPUT % "incremental") % ("a", 0, "drop"),
            "transformers/payments.sql": SQL.replace("amount", "1.5 AS amount"),
        },
    )
    after = parts(root)
    assert {name for name in after if after[name] != before[name]} == {
        "transformers/payments.sql",
        "pipelines/payments.yml (inputs)",
        "pipelines/payments.yml (checks)",
    }


@pytest.mark.parametrize("mark", ["\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_line_of_python(mark: str) -> None:
    """Whatever else a text's lines may be split at stands within a line of Python: in a text, or a form feed before a function.

    What is dropped as a comment must be the comment, and not a part of the line before it.
    """
    text = "" if mark == "\f" else f"NOTE = 'a{mark}b'\n"
    before = f"{mark if mark == chr(12) else ''}{text}limit = 'amount > 100'\ny = 1  # c\n\n# d\n"
    one, other, uncommented = (
        digest_of((Part("a.py", "python", words),))
        for words in (before, before.replace("100", "5"), before.replace("# c", "# other").replace("# d\n", ""))
    )
    assert one != other
    assert one == uncommented


def test_the_digest_of_an_ordinary_text_stays_what_commits_have_recorded() -> None:
    assert digest_of((Part("a.py", "python", PYTHON),)) == "71871203f43c4074"
