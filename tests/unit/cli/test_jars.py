"""``freshet jars``: fetch, list and check what is pinned; nothing here starts a JVM or uses the network."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from freshet.cli.main import main
from freshet.jvm import jars
from freshet.jvm.jars import JarSet
from tests.unit.cli.conftest import parsed

CONTENT = {"a-1.jar": b"first jar", "b-2.jar": b"second jar"}
OF_HBASE = {"h-3.jar": b"third jar"}
ALL = {**CONTENT, **OF_HBASE}


def freshet(*words: str) -> Result:
    return CliRunner().invoke(main, ["jars", *words])


def a_set(folder: Path, content: dict[str, bytes]) -> JarSet:
    folder.mkdir()
    rows = "".join(f'<dependency org="org.some" name="{name[0]}" rev="{name[2]}"/>' for name in content)
    (folder / "ivy.xml").write_text(f"<ivy-module><dependencies>{rows}</dependencies></ivy-module>")
    (folder / "sums").write_text("".join(f"{sha256(name)}  {name}\n" for name in content))
    return JarSet(folder / "ivy.xml", folder / "sums")


def sha256(name: str) -> str:
    return hashlib.sha256(ALL[name]).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pin three small jars instead of the real ones, and return the folder where they are kept, which is not there yet."""
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path / "cache"))
    for name, content in (("SPARK_JARS", CONTENT), ("HBASE_JARS", OF_HBASE)):
        monkeypatch.setattr(f"freshet.cli.jars.{name}", a_set(tmp_path / name, content))
    return tmp_path / "cache" / "jars"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Let the repository have every jar, and return what it was asked for."""
    found: list[list[str]] = []

    def fetch(into: Path, ivy: Path, names: list[str]) -> str:
        found.append(names)
        for name in names:
            (into / name).write_bytes(ALL[name])
        return ""

    monkeypatch.setattr(jars, "fetch_with_ivy", fetch)
    return found


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "fetch_with_ivy", lambda into, ivy, names: "Server access error (UnknownHostException)")


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("no process is needed, and none of Java above all")

    monkeypatch.setattr(subprocess, "run", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)


def test_fetch_fills_the_cache_and_then_only_what_it_lacks(cache: Path, asked: list[list[str]]) -> None:
    first = freshet("fetch", "--output", "json")
    assert first.exit_code == 0, first.output
    assert parsed(first) == {
        "directory": str(cache),
        "fetched": ["a-1.jar", "b-2.jar"],
        "jars": [
            {"name": name, "path": str(cache / name), "sha256": sha256(name), "bytes": len(CONTENT[name])} for name in CONTENT
        ],
    }
    assert "fetching 2 jars" in first.stderr
    assert freshet("fetch").exit_code == 0
    (cache / "b-2.jar").unlink()
    assert parsed(freshet("fetch", "--output", "json"))["fetched"] == ["b-2.jar"]
    assert asked == [["a-1.jar", "b-2.jar"], ["b-2.jar"]]


@pytest.mark.usefixtures("asked")
def test_the_jars_of_hbase_are_a_set_of_their_own(cache: Path) -> None:
    assert parsed(freshet("fetch", "--hbase", "--output", "json"))["fetched"] == ["h-3.jar"]
    assert freshet("path", "--hbase").stdout == f"{cache / 'h-3.jar'}\n"
    assert freshet("verify", "--hbase").exit_code == 0
    missing = freshet("path", "--output", "json")
    assert (missing.exit_code, parsed(missing)["error"]["next"]) == (1, "freshet jars fetch")


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("words", [("fetch",), ("fetch", "--hbase")])
def test_without_a_network_nothing_is_kept_and_the_error_says_what_to_bring(cache: Path, words: tuple[str, ...]) -> None:
    content = OF_HBASE if "--hbase" in words else CONTENT
    result = freshet(*words, "--output", "json")
    error = parsed(result)["error"]
    assert (result.exit_code, error["code"]) == (1, "JAR_MISSING")
    assert "UnknownHostException" in error["message"]
    assert error["next"].splitlines()[1:] == [f"{sha256(name)}  {name}" for name in content]
    assert str(cache) in error["next"]
    assert list(cache.iterdir()) == []
    for name, text in content.items():
        (cache / name).write_bytes(text)
    assert freshet(*words).exit_code == 0, "brought by hand, they are as good"


@pytest.mark.usefixtures("no_process")
def test_path_prints_what_is_there_and_fetches_nothing(cache: Path) -> None:
    """One a line, whole, and never a path that Spark would not find or must not load."""
    nothing = freshet("path")
    assert (nothing.exit_code, nothing.stdout, cache.exists()) == (1, "", False)
    assert all(word in nothing.stderr for word in ("JAR_MISSING", "a-1.jar", "b-2.jar", "freshet jars fetch", str(cache)))
    put(cache, CONTENT)
    assert freshet("path").stdout.splitlines() == [str(cache / name) for name in CONTENT]
    assert parsed(freshet("path", "--output", "json")) == {
        "directory": str(cache),
        "paths": [str(cache / name) for name in CONTENT],
    }
    (cache / "a-1.jar").write_bytes(b"another")
    altered = freshet("path", "--output", "json")
    assert (altered.exit_code, parsed(altered)["error"]["code"]) == (1, "JAR_ALTERED")


def put(cache: Path, content: dict[str, bytes]) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    for name, text in content.items():
        (cache / name).write_bytes(text)


def _cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def _same_size_and_time(file: Path) -> None:
    before = file.stat()
    file.write_bytes(file.read_bytes()[:-1] + b"R")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize(
    ("harm", "state"),
    [
        (_cut_off, "altered"),
        (_same_size_and_time, "altered"),
        (Path.unlink, "missing"),
        (lambda file: (file.unlink(), file.mkdir()), "missing"),
    ],
    ids=["cut off", "another byte", "gone", "a folder"],
)
def test_verify_names_what_is_missing_or_altered(cache: Path, harm: Callable[[Path], object], state: str) -> None:
    put(cache, CONTENT)
    well = freshet("verify", "--output", "json")
    assert well.exit_code == 0
    assert [one["state"] for one in parsed(well)["jars"]] == ["ok", "ok"]
    harm(cache / "b-2.jar")
    result = freshet("verify", "--output", "json")
    found = parsed(result)
    assert (result.exit_code, {what: found[what] for what in ("missing", "altered")}) == (
        1,
        {"missing": [], "altered": [], state: ["b-2.jar"]},
    )
    assert (found["jars"][1]["state"], found["jars"][1]["expected"]) == (state, sha256("b-2.jar"))
    assert found["jars"][1]["maven_path"] == "org/some/b/2/b-2.jar"
    words = freshet("verify")
    assert words.exit_code == 1
    assert [line.split() for line in words.stdout.splitlines()[1:]] == [["ok", "a-1.jar"], [state, "b-2.jar"]]
    assert f"{sha256('b-2.jar')}  b-2.jar" in words.stderr.splitlines()
    assert sha256("a-1.jar") not in words.stderr
    assert (f"rm {cache / 'b-2.jar'}" in words.stderr) == (state == "altered")


@pytest.mark.usefixtures("no_process")
def test_verify_of_nothing_at_all(cache: Path) -> None:
    result = freshet("verify", "--output", "json")
    assert (result.exit_code, parsed(result)["missing"], cache.exists()) == (1, list(CONTENT), False)
