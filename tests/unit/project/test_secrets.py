"""Secrets never show, however they were escaped on the way."""

from __future__ import annotations

import base64
import json
import shlex
from pathlib import Path
from urllib.parse import quote

import pytest

from freshet.errors import SpecError
from freshet.project.load.project import load_project
from freshet.secrets import Redactor, redact
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
    redactor.register("CARD", "4929123412341234")
    tree = {"k-12345": ["x/12345", 4929123412341234, True, None, 1.5], "n": {"a": ("12345",)}}
    assert redactor.redact_tree(tree) == {
        "k-${env.PIN}": ["x/${env.PIN}", "${env.CARD}", True, None, 1.5],
        "n": {"a": ["${env.PIN}"]},
    }


@pytest.mark.parametrize(
    "kept",
    [
        "freshet checkpoint set order_totals 20261126133842273",
        "2026-11-26 13:38:42Z (3 min ago)",
        "2026-11-26T13:38:42.126Z",
        "20261126133842273_20261126133843111.commit",
        "20261126133842273-1264f0a0.failed.json",
        "0f3a1264-1261-4126-8126-0126aa126bb1",
        "part 0f3a1264-0126-1264-2026-0126aa126bb1-0_1-126-2026_20261126133842273.parquet",
        "126,000 of 2,126 rows",
    ],
)
def test_short_numbers_leave_instants_ids_and_counts_alone(kept: str) -> None:
    """Also as a part of a longer word; a year, and a whole day's or moment's value; as keys and values of a document."""
    redactor = Redactor()
    for name, value in (("N", "126"), ("YEAR", "2026"), ("G", "1264"), ("DAY", "20261126"), ("FROM", "20261126133842273")):
        redactor.register(name, value)
    assert redactor.redact(kept) == kept
    tree = {kept: [kept], "inserts": 126, "seconds": 126.0, "year": 2026}
    assert redactor.redact_tree(tree) == tree


def test_a_number_that_is_a_word_of_its_own_is_hidden() -> None:
    """Alone, in a path, a URL, a list; one of eight digits or more, or with a letter, wherever it stands."""
    redactor = Redactor()
    for name, value in (("N", "126"), ("LONG", "90817263"), ("MIXED", "a12"), ("ID", "0f3a1264-0126-1264-2026-0126aa126bb1")):
        redactor.register(name, value)
    assert redactor.redact("126 /d/126/e u:126@h '126' =126; 1260 x126") == (
        "${env.N} /d/${env.N}/e u:${env.N}@h '${env.N}' =${env.N}; 1260 x126"
    )
    assert redactor.redact("x90817263y1 ba12c") == "x${env.LONG}y1 b${env.MIXED}c"
    assert redactor.redact("<0f3a1264-0126-1264-2026-0126aa126bb1>") == "<${env.ID}>"


def test_a_short_number_does_not_hide_a_secret_that_it_overlaps() -> None:
    redactor = Redactor()
    redactor.register("N", "126")
    redactor.register("S", "26abc")
    assert redactor.redact("126abc") == "1${env.S}"


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
