"""What a session's settings say of the place that freshet is installed at."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.hudi.keys.options import AVRO_IN_SESSION, KAFKA_IN_SESSION
from freshet.jvm import conf, session
from freshet.jvm.class_data import ClassData
from freshet.jvm.jars import KAFKA_SOURCE_JARS, JarSet


@pytest.mark.parametrize("folder", ["/opt/freshet", "/opt/a project/50%", "/opt/a#b", "/opt/a?b", "/opt/50%25", "/opt/été"])
def test_where_the_log_is_configured_is_one_word_and_a_uri(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """Kind: a URI made of a path as text, and parsed again. Spark divides Java's options at spaces, and Log4j decodes a URI."""
    monkeypatch.setattr(session, "__file__", f"{folder}/session.py")
    words = session.session_conf({}, ())["spark.driver.extraJavaOptions"].split()
    assert all(word.startswith("-") for word in words)
    (uri,) = (word.partition("=")[2] for word in words if "configurationFile" in word)
    assert uri.startswith("file:///opt/")
    assert not set(uri) & set(" #?é")
    assert ("50%25" in uri) == ("50%" in folder)


def test_kafkas_jars_are_on_the_class_path_of_pipelines_that_read_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind: a jar of a source that each session takes along, whatever it reads; the archive of classes holds none."""
    asked: list[JarSet] = []

    def resolve(wanted: JarSet) -> tuple[Path, ...]:
        asked.append(wanted)
        return (Path("/jars/kafka.jar"),)

    monkeypatch.setattr(conf, "resolve_jars", resolve)
    assert (conf.source_jars({}), asked) == ((), [])
    found = conf.source_jars({KAFKA_IN_SESSION: "true"})
    assert (found, asked) == ((Path("/jars/kafka.jar"),), [KAFKA_SOURCE_JARS])
    hudi = (Path("/jars/hudi.jar"),)
    data = ClassData(Path("/cache/a.jsa"), None, "/spark/*:/jars/hudi.jar")
    assert session.session_conf({}, hudi, sources=found)["spark.jars"] == "/jars/hudi.jar,/jars/kafka.jar"
    assert (
        session.session_conf({"spark.jars": "/own.jar"}, hudi, data, sources=found)["spark.jars"] == "/jars/kafka.jar,/own.jar"
    )
    assert "spark.jars" not in session.session_conf({}, hudi, data)


def test_avros_jar_is_on_the_class_path_of_pipelines_of_avro_alone_and_a_garbled_length_takes_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kind: a length in a record that a decoder takes memory for before it is found to be none."""
    monkeypatch.setattr(conf, "resolve_jars", lambda wanted: (Path("/jars") / f"{wanted.sums.stem}.jar",))
    wanted = {KAFKA_IN_SESSION: "true", AVRO_IN_SESSION: "true", "spark.driver.extraJavaOptions": "-Dx=1"}
    assert conf.source_jars(wanted) == (Path("/jars/jars-kafka-source.jar"), Path("/jars/jars-avro.jar"))
    found, plain = session.session_conf(wanted, ()), session.session_conf({}, ())
    for name in ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"):
        assert "-Dorg.apache.avro.limits.string.maxLength=134217728" in found[name].split()
        assert "avro.limits" not in plain[name]
    assert found["spark.driver.extraJavaOptions"].endswith(" -Dx=1")
