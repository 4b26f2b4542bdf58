"""No 8 characters of a secret are printed or written to a file, whatever a template, a cut or a normal form makes of it."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freshet.cli.main import main
from freshet.errors import SpecError
from freshet.hudi.table import MemoryState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.plan.stages import Commit
from freshet.project.load.project import load_project
from freshet.project.model.pipeline import PipelineSpec
from freshet.quarantine.table import options_of
from freshet.run.records import write_record
from freshet.secrets import PART, REDACTOR, Redactor
from tests.kit.memory import a_commit, a_table_state, at
from tests.kit.project import BASE, DDL, PIPELINE, a_project

_TOKEN = st.text("abcdefghXYZ0123456789-_/+=.", min_size=12, max_size=140).filter(lambda text: len(set(text)) > 6)
_SHAPES = (
    "{{ env.S }}",
    "x{{ env.S }}y",
    "{{ env.S | upper }}",
    "{{ env.S[3:] }}",
    "{{ env.S[:9] }}",
    "{{ env.S.split('-')[0] }}",
    "{{ env.S | replace('a', 'b') }}",
    "{% for c in env.S %}{{ c }}{% endfor %}",
    "{% set x = env.S | lower %}{{ x }}{{ x }}",
    "//{{ env.S }}//./../{{ env.S }}/",
    "s3a://K:{{ env.S }}@Host//b/",
    "{{ env.S | reverse }}",
    "{{ 'a' ~ env.S[1:] ~ 'b' }}",
    "{{ env.S * 3 }}",
    "{{ env.S | truncate(20, true) }}",
    "{{ '%s' % env.S }}",
    "{{ '{:>20.30}'.format(env.S) }}",
    "{{ env.S | list | join }}",
    "{{ env.S | urlencode }}",
    "{{ env.S | string | trim('=') }}",
    "{{ 'y' if env.S else 'n' }}",
)
_PADS = ("", "p" * 33, "p" * 70, "p" * 76)
# Where the text of a template stands; V is a variable that holds it.
_PLACES = {
    "option": ("pipelines/payments.yml", '  hoodie.write.lock.zookeeper.url: "T"\n'),
    "wrong option": ("pipelines/payments.yml", '  hoodie.upsert.shuffle.parallelism: "T"\n'),
    "index": ("pipelines/payments.yml", '  hoodie.index.type: "T"\n'),
    "table type": ("pipelines/payments.yml", '  hoodie.datasource.write.table.type: "T"\n'),
    "transformer": ("pipelines/payments.yml", 'transform: ["transformers/T.txt"]\n'),
    "tag": ("pipelines/payments.yml", 'tags: ["T"]\n'),
    "input": ("pipelines/payments.yml", 'inputs: {one: {table: "T", read: snapshot}}\n'),
    "check": ("pipelines/payments.yml", 'checks: [{name: "T", where: "amount > 0"}, {name: a, unique: ["T"]}]\n'),
    "column": ("pipelines/payments.yml", 'write: {strategy: merge, columns: ["T"]}\n'),
    "spark": ("pipelines/payments.yml", 'spark: {spark.a: "T", "b": "T"}\n'),
    "source": ("configs/local.yml", 'hoodie: {hoodie.streamer.source.hoodieincr.path: "T"}\n'),
    "warehouse": ("configs/local.yml", 'warehouse: {derived: "T"}\n'),
    "sql": ("transformers/payments.sql", "SELECT id, amount, updated_at, 'V' AS s FROM <SRC> WHERE id <> 'V'\n"),
    "sql filter": ("transformers/payments.sql", "SELECT id, {{ var.v | upper }} FROM <SRC> -- {{ var.v[2:] }}\n"),
    "wrong sql": ("transformers/payments.sql", "SELECT 'V FROM <SRC> WHERE (\n"),
    "location": ("ddl/payments.sql", DDL.format(name="payments").rstrip().rstrip(";") + " LOCATION 'V'\n"),
    "wrong ddl": ("ddl/payments.sql", "CREATE TABLE derived.V (a V, b STRING 'V') PARTITIONED BY (V)\n"),
}
_WORDS = (
    ("compile",),
    ("compile", "--output", "json"),
    ("plan",),
    ("plan", "--output", "json"),
    ("status", "--output", "json"),
    ("validate",),
    ("run", "--all", "--dry-run"),
)


def _leaks(text: str, secret: str) -> list[str]:
    parts = {secret[start : start + PART] for start in range(len(secret) - PART + 1)}
    return sorted(part for part in parts if part in text)


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(_TOKEN, st.sampled_from(_SHAPES), st.sampled_from(_PADS), st.sampled_from(sorted(_PLACES)), st.sampled_from(_WORDS))
def test_nothing_printed_or_kept_holds_a_part_of_a_secret(
    secret: str,
    shape: str,
    pad: str,
    place: str,
    words: tuple[str, ...],
) -> None:
    """Members: each way to make a text of a secret, each place that it may stand in, cut anywhere, by each reading command."""
    REDACTOR.__init__()  # type: ignore[misc]
    file, text = _PLACES[place]
    value = pad + shape
    files = {
        "configs/base.yml": BASE.replace("vars: {", f'vars: {{v: "{value}", '),
        "pipelines/payments.yml": PIPELINE.format(name="payments", source="events"),
        file: text.replace("T", value).replace("V", "{{ var.v }}") if file != "pipelines/payments.yml" else "",
    }
    if file == "pipelines/payments.yml":
        hoodie = PIPELINE.format(name="payments", source="events")
        written = text.replace("T", value)
        files[file] = (
            hoodie + written
            if text.startswith("  ")
            else written
            + "".join(line for line in hoodie.splitlines(keepends=True) if line.split(":")[0] != written.split(":")[0])
        )
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = a_project(Path(folder) / "project", files=files)
        patch.setenv("S", secret)
        patch.setenv("FRESHET_CACHE", str(Path(folder) / "cache"))
        result = CliRunner().invoke(main, [*words, "-C", str(root)])
        said = result.stdout + result.stderr
        assert said.strip()
        assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), result.exception
        assert _leaks(said, secret) == []
        kept = [path for path in Path(folder).rglob("*") if path.is_file()]
        assert [str(path) for path in kept if _leaks(path.read_text(errors="replace") + path.name, secret)] == []


@pytest.mark.parametrize("cut", [8, 20, 79, 80, 120])
def test_a_cut_text_is_hidden(cut: int) -> None:
    """Cut at the front, at the end, at both, and base64 with a user's name before it."""
    redactor, secret = Redactor(), "tok/EN-" + "0123456789abcdef" * 9
    redactor.register("S", secret)
    for text in (secret[:cut], secret[cut:], secret[3 : cut + 3], secret[:cut].upper(), f"a '{secret[:cut]}' b"):
        assert _leaks(redactor.redact(text), secret) == []
    basic = base64.b64encode(f"user:{secret}".encode()).decode()
    assert "MDEyMzQ1Njc4" not in redactor.redact(basic)


def test_words_that_machines_read_stay_as_they_are() -> None:
    """A bucket named after a word of ours must not change a key or a code of a JSON document, nor a fingerprint."""
    redactor = Redactor()
    redactor.register("LAKE", "s3a://checkpoint_pipelines/CHECKPOINT_EXPIRED/up_to_date")
    tree = {"pipeline": "a", "checkpoint": "b", "code": "CHECKPOINT_EXPIRED", "state": "up_to_date"}
    assert redactor.redact_tree(tree) == tree
    assert redactor.redact_whole("the warehouse of s3a://checkpoint") == "the warehouse of s3a://checkpoint"
    assert "checkpoint" not in redactor.redact("s3a://checkpoint_pipelines")


def test_the_process_has_no_secret_of_another_test() -> None:
    assert REDACTOR.redact(os.sep * 20) == os.sep * 20


_KEPT = {
    **_PLACES,
    "check": ("pipelines/payments.yml", "checks: [{name: a, where: \"amount > 0 and id <> 'T'\"}]\n"),
    "named check": ("pipelines/payments.yml", 'checks: [{name: "T", where: "amount > 0"}]\n'),
    "table check": (
        "pipelines/payments.yml",
        "checks: [{name: a, sql: \"select count(*) from <TABLE_NAME> where id = 'T'\", expect: 0}]\n",
    ),
    "dropping check": ("pipelines/payments.yml", "checks: [{name: a, where: \"id = 'T'\", severity: drop}]\n"),
    "suite": (
        "pipelines/payments.yml",
        'checks: [{name: a, expectations: [{expect_column_values_to_be_in_set: {column: id, value_set: ["T"]}}]}]\n',
    ),
    "owner": ("pipelines/payments.yml", 'owner: "T"\n'),
    "description": ("pipelines/payments.yml", 'description: "T"\n'),
    "column name": ("ddl/payments.sql", DDL.format(name="payments").replace("  amount", "  V STRING,\n  amount")),
    "field name": ("ddl/payments.sql", DDL.format(name="payments").replace("  amount", "  s STRUCT<V: INT>,\n  amount")),
    "table name": ("ddl/payments.sql", DDL.format(name="V")),
    "comment": ("ddl/payments.sql", DDL.format(name="payments").replace("  amount", "  s STRING COMMENT 'V',\n  amount")),
    "property": ("ddl/payments.sql", DDL.format(name="payments").replace("type =", "'hoodie.index.hbase.table' = 'V', type =")),
    "sync": ("pipelines/payments.yml", '  hoodie.datasource.hive_sync.table_properties: "T"\n'),
    "lock": ("pipelines/payments.yml", '  hoodie.write.lock.zookeeper.base_path: "T"\n'),
    "warehouse of the source": ("configs/local.yml", 'warehouse: {raw: "T"}\n'),
}


# By what they hold; and since they are wrong whatever stands there.
_REFUSED = {"column name", "field name", "named check", "sync", "table name"}
_WRONG = {"column", "index", "input", "spark", "table type", "transformer", "wrong ddl", "wrong option", "wrong sql"}


@pytest.mark.parametrize("shape", ["{{ env.S }}", "x{{ env.S | upper }}", "a_{{ env.S[2:] }}_b"])
@pytest.mark.parametrize("place", sorted(_KEPT))
def test_no_commit_keeps_a_part_of_a_secret(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    shape: str,
) -> None:
    """Kind: what a run writes of its files into the target's commits, the quarantine's, and its record. What cannot be kept
    without the secret is refused before.
    """
    secret, (file, text) = "violet_kumquat_77", _KEPT[place]
    monkeypatch.setenv("S", secret)
    written = text.replace("T" if file.endswith(".yml") else "\0", shape).replace("V", "{{ var.v }}")
    written = written.replace(f"<{shape}ABLE_NAME>", "<TABLE_NAME>")
    pipeline = PIPELINE.format(name="payments", source="events")
    files = {
        "configs/base.yml": BASE.replace("vars: {", f'vars: {{v: "{shape}", '),
        file: f"{pipeline}{written}" if file == "pipelines/payments.yml" else written,
    }
    if place == "transformer":
        files[file] = "".join(f"{line}\n" for line in pipeline.splitlines() if not line.startswith("transform")) + written
    root = a_project(tmp_path, files=files)
    with suppress(SpecError):
        spec = load_project(root).pipelines[0]
        assert place not in _REFUSED | _WRONG
        _look(spec, tmp_path, secret, written)
        return
    assert place in _REFUSED | _WRONG


def _look(spec: PipelineSpec, folder: Path, secret: str, written: str) -> None:
    memory = MemoryState({spec.source.table.path: a_table_state([a_commit(10)], ref=spec.source.table)})
    commits = [stage for stage in compile_plan(spec, memory, RunRequest()).stages if isinstance(stage, Commit)]
    kept = [*(dict(stage.metadata) for stage in commits)]
    kept += [{key: value for key, value in options_of(spec, "r", "run").items() if key.startswith("streamer.")}]
    write_record(spec.target.ref, spec.name, {"what": "run", "begun": at(1), "outcome": "failed", "reason": f"of {written}"})
    records = [path.read_text() for path in folder.rglob("*.json") if ".runs" in str(path)]
    assert len(kept) == 2
    for leaked in (secret, secret.upper()):
        assert _leaks(json.dumps(kept) + "".join(records), leaked) == []
