"""Secrets never show, however they were escaped on the way."""

from __future__ import annotations

import base64
import json
import shlex
from pathlib import Path
from urllib.parse import quote

import pytest

from freshet.errors import SpecError
from freshet.spec.project import load_project
from freshet.spec.secrets import Redactor, redact
from tests.kit.project import BASE, a_project

SECRET = "p\"a'ss w/ö\\rd"


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        shlex.quote(SECRET),
        quote(SECRET),
        quote(SECRET, safe=""),
        repr(SECRET),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_derived_forms(form: str) -> None:
    redactor = Redactor()
    redactor.register("PW", SECRET)
    assert redactor.redact(f"x {form} y").replace("'", "").replace('"', "") == "x ${env.PW} y"


def test_longer_values_go_first_and_short_ones_stay() -> None:
    redactor = Redactor()
    for name, value in (("A", "abc"), ("B", "abcdef"), ("C", "ab")):
        redactor.register(name, value)
    assert redactor.redact("abcdef abc ab") == "${env.B} ${env.A} ab"


def test_trees_with_keys_and_numbers() -> None:
    redactor = Redactor()
    redactor.register("PIN", "12345")
    tree = {"k12345": ["x12345", 12345, True, None, 1.5], "n": {"a": ("12345",)}}
    assert redactor.redact_tree(tree) == {
        "k${env.PIN}": ["x${env.PIN}", "${env.PIN}", True, None, 1.5],
        "n": {"a": ["${env.PIN}"]},
    }


def test_a_certificate_is_redacted_line_by_line() -> None:
    redactor = Redactor()
    redactor.register("KEY", "-----BEGIN-----\nMIIEvQIBADANBg\n-----END-----")
    assert redactor.redact("line: MIIEvQIBADANBg") == "line: ${env.KEY}"


@pytest.mark.parametrize(
    "where",
    [
        ("configs/local.yml", "lease: {wait_seconds: '{{ env.PW }}'}"),
        ("configs/local.yml", "hoodie: {hoodie.compact.inline: '{{ env.PW }}'}"),
        ("configs/local.yml", "hoodie: {hoodie.index.type: '{{ env.PW }}'}"),
        ("configs/local.yml", "vars: {x: '{{ env.PW }}'}\nhoodie: {hoodie.datasource.write.operation: 'a{{ var.x }}'}"),
        ("configs/local.yml", "vars: {x: '{{ env.PW }}'}\nwarehouse: {raw: ['{{ var.x }}']}"),
    ],
)
def test_no_problem_shows_a_secret(tmp_path: Path, where: tuple[str, str]) -> None:
    with pytest.raises(SpecError) as raised:
        load_project(a_project(tmp_path, files=dict([where])), environ={"PW": "hunter22"})
    assert "hunter22" not in str(raised.value)
    assert "hunter22" not in json.dumps(raised.value.as_json())


def test_the_fingerprint_ignores_secrets_and_the_folder(tmp_path: Path) -> None:
    base = BASE + "hoodie: {hoodie.parquet.compression.codec: zstd, hoodie.write.lock.zookeeper.url: '{{ env.URL }}'}\n"
    prints = []
    for folder, url in (("a", "one.example:1"), ("b/c", "two.example:2")):
        root = a_project(tmp_path / folder, files={"configs/base.yml": base})
        prints.append(load_project(root, environ={"URL": url}).pipelines[0].fingerprint)
    assert prints[0] == prints[1]


def test_what_a_filter_makes_of_a_secret_is_one_too(tmp_path: Path) -> None:
    base = BASE.replace("raw_root: data/raw", "raw_root: \"/d/{{ env.TOKEN | upper }}/{{ env.URL.split('@')[0] }}\"")
    environ = {"TOKEN": "s3cr3t-token-x", "URL": "user:hunter22@host"}
    project = load_project(a_project(tmp_path, files={"configs/base.yml": base}), environ=environ)
    path = project.pipelines[0].source.table.path
    assert path.startswith("/d/S3CR3T-TOKEN-X/user:hunter22")
    shown = redact(path)
    assert "S3CR3T" not in shown
    assert "hunter22" not in shown
