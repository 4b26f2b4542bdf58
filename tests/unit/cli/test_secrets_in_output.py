"""No command prints what a file read through ``env``: not in results, not in messages, not in errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.project import BASE, PIPELINE, a_project
from tests.kit.timeline import a_table, a_target
from tests.unit.cli.conftest import Freshet

SECRET = 's3cr3t/with "quotes" & spaces'
FORMS = ("s3cr3t", 'with \\"quotes', "%22quotes")


@pytest.fixture
def secretive(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAKE_PASSWORD", SECRET)
    lines = PIPELINE.format(name="payments", source="events") + (
        '  hoodie.write.lock.zookeeper.url: "user:{{ env.LAKE_PASSWORD }}@host"\n'
        'spark: {spark.hadoop.fs.s3a.secret.key: "{{ env.LAKE_PASSWORD }}"}\n'
    )
    base = BASE.replace("vars: {", 'vars: {password: "{{ env.LAKE_PASSWORD }}", ')
    return a_project(
        root,
        files={
            "pipelines/payments.yml": lines,
            "configs/base.yml": base,
            "transformers/payments.sql": "SELECT id, amount, updated_at FROM <SRC> WHERE id <> '{{ var.password }}'\n",
        },
    )


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ("validate",),
        ("compile",),
        ("plan",),
        ("status",),
        ("status", "--metrics", "--set", "owner={{ env.LAKE_PASSWORD }}"),
        ("status", "--metrics", "--set", "hoodie.streamer.source.hoodieincr.path=/lake/{{ env.LAKE_PASSWORD }}"),
        ("alerts", "--set", "owner={{ env.LAKE_PASSWORD }}"),
        ("alerts", "--format", "alertmanager", "--set", "owner={{ env.LAKE_PASSWORD }}"),
        ("validate", "--set", "metrics.slack={{ env.LAKE_PASSWORD }}"),
        ("run", "payments", "--set", "metrics.slack=http://127.0.0.1:1/{{ env.LAKE_PASSWORD | urlencode }}"),
        ("run", "payments", "--dry-run"),
        ("checkpoint", "show", "payments"),
        ("compile", "--set", "hoodie.index.tipe={{ env.LAKE_PASSWORD }}"),
        ("validate", "--set", "hoodie.upsert.shuffle.parallelism={{ env.LAKE_PASSWORD }}"),
        ("validate", "--set", "hoodie.index.type={{ env.LAKE_PASSWORD }}"),
        ("validate", "--set", "transform=transformers/{{ env.LAKE_PASSWORD }}.sql"),
        ("validate", "--set", "lease.wait_seconds={{ env.LAKE_PASSWORD }}"),
        ("plan", "--set", "hoodie.streamer.source.hoodieincr.path=/lake/{{ env.LAKE_PASSWORD }}"),
        ("run", "payments", "--set", "hoodie.streamer.source.hoodieincr.path=/lake/{{ env.LAKE_PASSWORD }}"),
    ],
)
def test_no_secret_is_printed(freshet: Freshet, secretive: Path, words: tuple[str, ...], tables: bool, output: str) -> None:
    if tables:
        a_table(secretive, "raw/events", 10, 20)
        a_target(secretive, (15, 10))
    result = freshet(*words, "--output", output)
    said = result.stdout + result.stderr
    assert said.strip()
    assert "Traceback" not in said
    assert not [form for form in FORMS if form in said]


def test_the_place_of_a_secret_is_shown(freshet: Freshet, secretive: Path) -> None:
    assert "hoodie.write.lock.zookeeper.url = user:${env.LAKE_PASSWORD}@host" in freshet("compile").stdout


def test_a_traceback_holds_none(freshet: Freshet, secretive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError(f"cannot connect with {SECRET}")

    monkeypatch.setenv("FRESHET_DEBUG", "1")
    monkeypatch.setattr("freshet.cli.run.run_project", broken)
    result = freshet("run", "--all", "--output", "json")
    assert "ValueError: cannot connect with ${env.LAKE_PASSWORD}" in result.stderr
    assert "Traceback" in result.stderr
    assert not [form for form in FORMS if form in result.stdout + result.stderr]


def test_spark_submit_leaves_it_to_the_drivers_environment(
    freshet: Freshet,
    secretive: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("freshet.jvm.submit.resolve_jars", lambda: (Path("/jars/hudi.jar"),))
    for output in ("text", "json"):
        result = freshet("compile", "--spark-submit", "--output", output)
        said = result.stdout + result.stderr
        assert result.exit_code == 0
        assert "spark-submit" in said
        assert "spark.hadoop.fs.s3a.secret.key" not in said
        assert "/jars/hudi.jar" in said
        assert not [form for form in FORMS if form in said]
        refused = freshet("compile", "--spark-submit", "--output", output, "--set", f"vars.city={SECRET}")
        assert (refused.exit_code, "SECRET_ON_COMMAND_LINE" in refused.stderr) == (1, True)
        assert not [form for form in FORMS if form in refused.stdout + refused.stderr]
