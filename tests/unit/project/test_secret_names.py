"""No name that a table, its commits or a catalogue keeps holds a secret: it is refused, and said by its place alone.

The kind: what has to be kept exactly, and so cannot be kept as ``${env.NAME}``. A path can: see test_old_secrets.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from freshet.cli.main import main
from freshet.errors import SpecError
from freshet.hudi.timeline import TimelineState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Commit
from freshet.project.load.project import load_project
from freshet.project.load.warehouse import load_warehouse
from tests.kit.project import BASE, DDL, PIPELINE, SQL, a_project
from tests.kit.timeline import a_table

SECRET = "violetkumquat77"
_YML, _DDL, _SQL = "pipelines/payments.yml", "ddl/payments.sql", "transformers/payments.sql"
_VARIABLE = BASE.replace("vars: {", 'vars: {s: "{{ env.S }}", half: "{{ env.S[2:12] }}", ')
_PIPELINE, _TABLE = PIPELINE.format(name="payments", source="events"), DDL.format(name="payments")
_EVOLVES = _PIPELINE + "schema_contract: add_columns\n"
_SYNC = "'hoodie.datasource.hive_sync.database'"
_HIVE = "  hoodie.datasource.hive_sync."


def _checked(name: str) -> str:
    return _PIPELINE + f'checks:\n  - {{name: "{name}", where: "amount < 0"}}\n'


def _column(text: str) -> str:
    return _TABLE.replace("  amount", f"  {text},\n  amount")


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({_YML: _checked("{{ env.S }}")}, f"{_YML}:8"),
        ({_YML: _checked("no_{{ var.s }}_x")}, f"{_YML}:8"),
        ({_YML: _checked("no_{{ env.S | upper }}")}, f"{_YML}:8"),
        ({_YML: _checked("a{{ var.half }}")}, f"{_YML}:8"),
        ({_DDL: _column("{{ var.s }} STRING")}, f"{_DDL}:3"),
        ({_DDL: _column("`a_{{ var.s }}` STRING")}, f"{_DDL}:3"),
        ({_DDL: _column("a STRUCT<x: INT, {{ var.s }}: ARRAY<STRUCT<y: INT>>>")}, f"{_DDL}:3"),
        ({_DDL: _column("a ARRAY<MAP<STRING, STRUCT<{{ var.half }}: INT>>>")}, f"{_DDL}:3"),
        ({_DDL: _TABLE.replace("derived.payments", "derived.{{ var.s }}")}, f"{_DDL}:1"),
        ({_DDL: _TABLE.replace("derived.payments", "derived.payments_{{ var.s | upper }}")}, f"{_DDL}:1"),
        ({_YML: _PIPELINE + _HIVE + 'table_properties: "owner={{ env.S }}"\n'}, f"{_YML}:7"),
        ({_YML: _PIPELINE + _HIVE + 'database: "{{ var.s }}"\n'}, f"{_YML}:7"),
        ({_DDL: _TABLE.replace("type = 'cow'", f"{_SYNC} = '{{{{ var.s }}}}'")}, f"{_DDL}:7"),
        ({_YML: _EVOLVES, _SQL: "SELECT *, 1 AS {{ var.s }} FROM <SRC>\n"}, f"{_SQL}:1"),
        ({_YML: _EVOLVES, _SQL: "SELECT *,\n1 AS `a {{ var.s }}` FROM <SRC>\n"}, f"{_SQL}:1"),
        (
            {
                _YML: _PIPELINE + "write: {strategy: partial_update, columns: [amount], changed_columns: 'c{{ env.S }}'}\n",
            },
            f"{_YML}:7",
        ),
    ],
)
def test_a_secret_in_a_name_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    place: str,
) -> None:
    """Whole, a part of it, what a filter makes of it; by ``env`` and by a variable."""
    monkeypatch.setenv("S", SECRET)
    root = a_project(tmp_path, files={"configs/base.yml": _VARIABLE, **files})
    with pytest.raises(SpecError) as caught:
        load_project(root)
    found = [problem for problem in caught.value.problems if problem.code == "SECRET_IN_NAME"]
    assert [f"{problem.file}:{problem.line}" for problem in found] == [place]
    assert [
        part for part in (SECRET[2:12], SECRET.upper()) if part in str(caught.value) + json.dumps(caught.value.as_json())
    ] == []


@pytest.mark.parametrize("key", ["database", "table", "table_properties", "serde_properties", "partition_fields"])
def test_what_the_configs_tell_a_catalogue_is_refused_of_landed_tables_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """They hold for every table of the project, those of ``freshet land`` and of seeds among them, which no pipeline writes."""
    monkeypatch.setenv("S", SECRET)
    root = a_project(tmp_path, files={"configs/base.yml": f"{_VARIABLE}hoodie:\n{_HIVE}{key}: 'x_{{{{ var.s }}}}'\n"})
    with pytest.raises(SpecError) as caught:
        load_warehouse(root)
    assert [(problem.code, problem.file) for problem in caught.value.problems] == [("SECRET_IN_NAME", "configs/base.yml")]
    assert SECRET[2:12] not in str(caught.value)
    done = CliRunner().invoke(main, ["land", "raw.orders", __file__, "--key", "id", "-C", str(root)])
    assert (done.exit_code, "SECRET_IN_NAME" in done.stderr, SECRET[2:12] in done.output) == (3, True, False)
    monkeypatch.setenv("S", "seen")
    (root / "configs/base.yml").write_text(f"{BASE}hoodie:\n{_HIVE}{key}: 'x_{SECRET}'\n{_HIVE}password: '{{{{ env.S }}}}'\n")
    assert load_warehouse(root).hoodie


@pytest.mark.parametrize("secret", ["amount", "derived", "violetkumquat77"])
def test_what_is_only_like_a_secret_or_is_kept_nowhere_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    secret: str,
) -> None:
    """A name that stands there as it is; a comment; a literal; a setting of the connection; a type that a variable gives."""
    monkeypatch.setenv("S", secret)
    hive = f'{_HIVE}password: "{{{{ env.S }}}}"\n'
    files = {
        "configs/base.yml": _VARIABLE.replace("vars: {", "vars: {kind: BIGINT, "),
        _YML: _EVOLVES.replace(
            "schema_contract", f"{hive}checks: [{{name: no_amount_violet, where: 'amount < 0'}}]\nschema_contract"
        ),
        _DDL: _column("n {{ var.kind }} COMMENT 'made by {{ var.s }}'").replace("type = 'cow'", f"{_SYNC} = 'all_derived'"),
        _SQL: SQL.replace("SELECT", "SELECT 1L AS n, ").replace("\n", " WHERE id <> '{{ var.s }}' -- {{ var.s }}\n"),
    }
    root = a_project(tmp_path, files=files)
    a_table(root, "raw/events", 10)
    spec = load_project(root).pipelines[0]
    plan = compile_plan(spec, TimelineState(), RunRequest())
    kept = [dict(stage.metadata) for stage in plan.stages if isinstance(stage, Commit)]
    assert len(kept) == 1
    assert "violetkumquat77" not in json.dumps(kept)


@pytest.mark.parametrize("secret", ["prod", "production", "no_production_x"])
def test_a_value_that_may_be_seen_names_things_though_a_secret_is_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    secret: str,
) -> None:
    """What the hint says to write: a variable that stands in the configs, by itself, with a filter, within a loop."""
    monkeypatch.setenv("S", secret)
    check = "{name: 'no_{{ var.stage }}_x', where: 'amount < 0'}, {name: 'b{{ var.stage | upper }}', where: 'amount < 1'}"
    files = {
        "configs/base.yml": BASE.replace("vars: {", 'vars: {stage: production, s: "{{ env.S }}", '),
        _YML: _EVOLVES.replace("schema_contract", f"checks: [{check}]\nschema_contract"),
        _DDL: _column("{{ var.stage }}_day STRING").replace("derived.payments", "derived.{{ var.stage }}_payments"),
        _SQL: "SELECT *, 1 AS {{ var.stage }}_n{% for n in [1] %}, 2 AS {{ var.stage }}{{ n }}{% endfor %} FROM <SRC>"
        " WHERE id <> '{{ var.s }}'\n",
    }
    assert load_project(a_project(tmp_path, files=files)).pipelines
    (tmp_path / _DDL).write_text(files[_DDL].replace("{{ var.stage }}_day", "{{ var.stage }}_{{ var.s }}"))
    with pytest.raises(SpecError, match="SECRET_IN_NAME"):
        load_project(tmp_path)
