"""The archive of classes: what its name depends on, when it is used, and how it is made; nothing here starts a JVM."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from freshet.errors import FreshetError
from freshet.hudi.keys.options import HBASE_IN_SESSION
from freshet.jvm import class_data
from freshet.jvm.class_data import CLASS_PATH, ClassData, find_class_data, make_archive, usable_class_data
from freshet.jvm.hbase_site import site_jar, with_hbase_site
from freshet.jvm.session import session_conf

JAVA_OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def spark_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a Spark of two jars, a Java 17 with its own archive, and an empty cache, and return Spark's home."""
    home, java = tmp_path / "spark", tmp_path / "java"
    write(home / "jars" / "core.jar", "core")
    write(home / "jars" / "sql.jar", "sql")
    write(java / "release", 'JAVA_VERSION="17.0.1"\n')
    write(java / "bin" / "java", "#!/bin/sh\nexit 99\n").chmod(0o755)
    write(java / "lib" / "server" / "classes.jsa", "")
    for name in class_data._OF_THE_USER:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("JAVA_HOME", str(java))
    monkeypatch.setenv("FRESHET_CACHE", str(tmp_path / "cache"))
    return home


@pytest.fixture
def jars(tmp_path: Path) -> tuple[Path, ...]:
    return write(tmp_path / "hudi.jar", "hudi"), write(tmp_path / "kafka.jar", "kafka")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def usable(jars: tuple[Path, ...], **conf: str) -> ClassData:
    found = usable_class_data(conf, jars)
    assert found is not None
    return found


def trained(_: ClassData, into: Path) -> str:
    into.write_text("classes")
    return ""


def test_the_name_follows_from_the_jars_and_the_java(spark_home: Path, jars: tuple[Path, ...], tmp_path: Path) -> None:
    names = [usable(jars).archive]
    assert usable(jars).archive == names[0]
    assert names[0].parent == tmp_path / "cache" / "class_data"
    os.utime(jars[0], (1, 1))
    names.append(usable(jars).archive)
    write(spark_home / "jars" / "sql.jar", "another sql")
    names.append(usable(jars).archive)
    write(spark_home / "jars" / "new.jar", "new")
    names.append(usable(jars).archive)
    write(tmp_path / "java" / "release", 'JAVA_VERSION="17.0.2"\n')
    names.append(usable(jars).archive)
    names.append(usable(jars[::-1]).archive)
    assert len(set(names)) == 6


@pytest.mark.usefixtures("spark_home")
def test_whole_seconds_are_the_time_of_a_file(jars: tuple[Path, ...]) -> None:
    """A layer of a container image keeps no fraction of a second: the archive made in it would never be found again.

    Java compares whole seconds, too. Other copies that cut it off: tar, zip, some file systems.
    """
    os.utime(jars[0], ns=(1, 1_700_000_000_123_456_789))
    made = usable(jars).archive
    os.utime(jars[0], ns=(1, 1_700_000_000_000_000_000))
    assert usable(jars).archive == made


@pytest.mark.usefixtures("spark_home")
def test_without_an_archive_the_session_is_as_ever(jars: tuple[Path, ...]) -> None:
    assert find_class_data({}, jars) is None
    conf = session_conf({}, jars)
    assert conf["spark.jars"] == f"{jars[0]},{jars[1]}"
    assert CLASS_PATH not in conf
    assert "Shared" not in conf[JAVA_OPTIONS]


def test_with_an_archive_the_jars_stand_on_the_class_path_behind_sparks(spark_home: Path, jars: tuple[Path, ...]) -> None:
    make_archive(usable(jars), trained)
    found = find_class_data({}, jars)
    assert found is not None
    conf = session_conf({JAVA_OPTIONS: "-Xshare:off", "spark.jars": "/own.jar"}, jars, found)
    assert conf[CLASS_PATH] == f"{spark_home}/jars/*:{site_jar()}:{jars[0]}:{jars[1]}"
    assert conf["spark.jars"] == "/own.jar"
    options = conf[JAVA_OPTIONS].split()
    assert f"-XX:SharedArchiveFile={found.archive}" in options
    assert options[-1] == "-Xshare:off", "of two, Java takes the last: the user's"
    assert "-Xlog:cds=off" in options
    assert "spark.jars" not in session_conf({}, jars, found)


def test_a_short_job_does_without_the_optimising_compiler_unless_the_user_wants_it() -> None:
    assert "TieredStopAtLevel" not in session_conf({}, ())[JAVA_OPTIONS]
    options = session_conf({JAVA_OPTIONS: "-XX:TieredStopAtLevel=4"}, (), short=True)[JAVA_OPTIONS].split()
    assert [option for option in options if "Tiered" in option] == ["-XX:TieredStopAtLevel=1", "-XX:TieredStopAtLevel=4"]


@pytest.mark.parametrize(
    ("cores", "short", "own", "collector"),
    [
        (2, True, "", ["-XX:+UseSerialGC"]),
        (2, True, "-Dsome=thing", ["-XX:+UseSerialGC"]),
        (2, True, "-XX:+UseG1GC", ["-XX:+UseG1GC"]),
        (2, False, "", []),
        (16, True, "", []),
    ],
)
def test_a_short_job_on_few_cores_has_the_serial_collector_unless_the_user_names_one(
    cores: int,
    short: bool,
    own: str,
    collector: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    options = session_conf({JAVA_OPTIONS: own}, (), short=short)[JAVA_OPTIONS].split()
    assert [option for option in options if option.endswith("GC")] == collector


@pytest.mark.parametrize("name", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS"])
def test_a_collector_named_elsewhere_is_the_only_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert "UseSerialGC" not in session_conf({"spark.driver.defaultJavaOptions": "-XX:+UseZGC"}, (), short=True)[JAVA_OPTIONS]
    monkeypatch.setenv(name, "-Xmx4g -XX:+UseZGC")
    assert "UseSerialGC" not in session_conf({}, (), short=True)[JAVA_OPTIONS]


@pytest.mark.usefixtures("spark_home")
def test_hbases_settings_stand_in_the_archive_unless_a_project_has_its_own() -> None:
    plain = {HBASE_IN_SESSION: "true"}
    assert with_hbase_site(plain, archived=True) == plain
    folder = Path(with_hbase_site(plain, archived=False)[CLASS_PATH])
    with zipfile.ZipFile(site_jar()) as jar:
        assert jar.read("hbase-site.xml") == (folder / "hbase-site.xml").read_bytes()
    own = with_hbase_site({**plain, "spark.hadoop.hbase.rpc.timeout": "5000"}, archived=True)
    assert "<name>hbase.rpc.timeout</name><value>5000</value>" in (Path(own[CLASS_PATH]) / "hbase-site.xml").read_text()
    assert with_hbase_site({}, archived=False) == {}


@pytest.mark.usefixtures("spark_home")
def test_what_has_to_be_found_before_the_jars_stands_before_them(jars: tuple[Path, ...]) -> None:
    data = usable(jars)
    assert session_conf({CLASS_PATH: "/site"}, jars, data)[CLASS_PATH] == f"/site:{data.class_path}"
    assert session_conf({CLASS_PATH: "/site"}, jars)[CLASS_PATH] == "/site"


@pytest.mark.usefixtures("spark_home")
@pytest.mark.parametrize(
    "conf",
    [
        {"spark.master": "spark://host:7077"},
        {"spark.master": "yarn"},
        {"spark.master": "local-cluster[2,1,1024]"},
        {CLASS_PATH: "/site"},
    ],
)
def test_a_cluster_or_a_class_path_of_ones_own_uses_none(jars: tuple[Path, ...], conf: dict[str, str]) -> None:
    make_archive(usable(jars, **{"spark.master": "local[2]"}), trained)
    assert find_class_data(conf, jars) is None


@pytest.mark.parametrize("name", class_data._OF_THE_USER)
def test_an_environment_that_adds_to_the_class_path_uses_none(
    spark_home: Path,
    jars: tuple[Path, ...],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setenv(name, "/etc/hadoop")
    assert usable_class_data({}, jars) is None
    monkeypatch.delenv(name)
    (spark_home / "conf").mkdir()
    assert usable_class_data({}, jars) is None


def test_a_java_without_an_archive_of_its_own_gets_one(
    spark_home: Path,
    jars: tuple[Path, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (spark_home.parent / "java" / "lib" / "server" / "classes.jsa").unlink()
    data = usable(jars)
    assert data.base is not None
    assert f"-XX:SharedArchiveFile={data.base}:{data.archive} " in data.java_options
    commands: list[list[str]] = []
    monkeypatch.setattr(class_data, "_run", lambda command: commands.append(command) or "")
    class_data._train(data, data.archive.with_name("made"))
    assert commands[0][1:] == ["-Xshare:dump", f"-XX:SharedArchiveFile={data.base}"]
    assert commands[1][-2:] == [
        f"-XX:ArchiveClassesAtExit={data.archive.with_name('made')} -XX:SharedArchiveFile={data.base}",
        data.class_path,
    ]


@pytest.mark.usefixtures("spark_home")
def test_an_archive_is_made_whole_or_not_at_all(jars: tuple[Path, ...]) -> None:
    data = usable(jars)
    with pytest.raises(FreshetError) as error:
        make_archive(data, lambda _, into: "no memory")
    assert error.value.code == "CLASS_DATA_FAILED"
    assert "no memory" in error.value.message
    assert list(data.archive.parent.iterdir()) == []
    make_archive(data, trained)
    assert list(data.archive.parent.iterdir()) == [data.archive]
    assert data.archive.read_bytes().startswith(b"classes")


@pytest.mark.usefixtures("spark_home")
def test_a_cut_off_archive_is_not_used(jars: tuple[Path, ...]) -> None:
    data = usable(jars)
    make_archive(data, trained)
    assert find_class_data({}, jars) == data
    content = data.archive.read_bytes()
    for length in (0, 5, len(content) - 1):
        data.archive.write_bytes(content[:length])
        assert find_class_data({}, jars) is None


@pytest.mark.usefixtures("spark_home")
def test_the_archives_used_last_are_kept(jars: tuple[Path, ...]) -> None:
    data = usable(jars)
    make_archive(data, trained)
    os.utime(data.archive, (1, 1))
    assert find_class_data({}, jars) == data
    assert data.archive.stat().st_mtime > 1
    for age in range(1, 6):
        for suffix in (".jsa", ".base"):
            os.utime(write(data.archive.with_name(f"{age}{suffix}"), ""), (1000 - age, 1000 - age))
    make_archive(data, trained)
    assert {file.name for file in data.archive.parent.iterdir()} == {"1.jsa", "1.base", "2.jsa", "2.base", data.archive.name}


@pytest.mark.usefixtures("spark_home")
def test_the_set_up_goes_on_without_an_archive(
    jars: tuple[Path, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(class_data, "resolve_jars", lambda: jars)
    monkeypatch.setattr(class_data, "_train", lambda _, into: "no memory")
    assert class_data.main() == 0
    said = capsys.readouterr()
    assert (said.out.count("\n"), "no memory" in said.err) == (1, True)
    make_archive(usable(jars), trained)
    assert class_data.main() == 0
    assert capsys.readouterr().out == "", "nothing to do, nothing to say"
    monkeypatch.setenv("FRESHET_CACHE", str(write(tmp_path / "file", "") / "below"))
    assert class_data.main() == 0
    assert "runs start some seconds later" in capsys.readouterr().err
