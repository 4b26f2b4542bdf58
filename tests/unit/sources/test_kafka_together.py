"""Topics of many pipelines are asked for once: by one question for each cluster, whose answer all looks share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from confluent_kafka import KafkaError, KafkaException

from freshet.errors import FreshetError
from freshet.hudi.one_look import OneLook
from freshet.hudi.table import MemoryState
from freshet.plan.compile import RunRequest, compile_plan
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.sources.kafka import source as source_module
from freshet.sources.kafka.client import cluster as cluster_module
from freshet.sources.kafka.client.cluster import cluster_at
from freshet.sources.kafka.client.confluent import ConfluentBroker
from freshet.sources.kafka.look.facts import Extent, Facts
from freshet.sources.registry import look_together
from freshet.status.status import pipeline_status
from tests.kit.memory import a_spec
from tests.kit.topics import MemoryBroker, a_topic_spec

CLIENT = {"bootstrap.servers": "127.0.0.1:9092"}


class Admin:
    """Answers as confluent-kafka's client does, and keeps what it was asked."""

    made: ClassVar[list[Admin]] = []
    wrong: ClassVar[dict[str, int]] = {}
    heard: ClassVar[list[int]] = []

    def __init__(self, settings: dict[str, Any]) -> None:
        self.asked: list[tuple[str, int]] = []
        self.told = settings["error_cb"]
        Admin.made.append(self)

    def poll(self, timeout: float) -> None:
        for code in Admin.heard:
            self.told(KafkaError(code))

    def describe_topics(self, topics: Any, request_timeout: float) -> dict[str, Any]:
        names = topics.topic_names
        self.asked.append(("describe", len(names)))
        return {name: Answer(name) for name in names}

    def list_offsets(self, wanted: dict[Any, Any], isolation_level: Any, request_timeout: float) -> dict[Any, Any]:
        self.asked.append(("offsets", len(wanted)))
        return {part: Told(SimpleNamespace(offset=0 if "Earliest" in type(of).__name__ else 7)) for part, of in wanted.items()}


class Told:
    def __init__(self, value: object) -> None:
        self.value = value

    def result(self, timeout: float) -> object:
        return self.value


class Answer(Told):
    def __init__(self, name: str) -> None:
        super().__init__(SimpleNamespace(topic_id=f"id of {name}", partitions=[SimpleNamespace(id=0), SimpleNamespace(id=1)]))
        self.name = name

    def result(self, timeout: float) -> object:
        if self.name in Admin.wrong:
            raise KafkaException(KafkaError(Admin.wrong[self.name]))
        return self.value


@pytest.fixture(autouse=True)
def admin(monkeypatch: pytest.MonkeyPatch) -> type[Admin]:
    monkeypatch.setattr(cluster_module, "_ADMIN", SimpleNamespace(AdminClient=Admin))
    monkeypatch.setattr(cluster_module, "_OPEN", {})
    monkeypatch.setattr(Admin, "made", [])
    monkeypatch.setattr(Admin, "wrong", {})
    monkeypatch.setattr(Admin, "heard", [])
    return Admin


def sources(*names: str) -> list[KafkaSpec]:
    return [a_topic_spec(name, client=CLIENT) for name in names]


def specs(*names: str) -> list[PipelineSpec]:
    return [a_spec(name=f"p_{name}", source=one, inputs=()) for name, one in zip(names, sources(*names), strict=True)]


def test_of_many_topics_three_things_are_asked_over_one_connection() -> None:
    many = [f"t{n}" for n in range(40)]
    found = ConfluentBroker(sources("t0")[0]).facts_of(sources(*many))
    assert found[3] == Facts(
        ids={"t3": "id of t3"}, parts={("t3", 0): Extent(0, 7), ("t3", 1): Extent(0, 7)}, asked_ms=_asked_ms(found[3])
    )
    for one in sources(*many):
        ConfluentBroker(one).facts()
    (client,) = Admin.made
    assert client.asked[:4] == [("describe", 40), ("offsets", 80), ("offsets", 80), ("describe", 40)]
    # Another login is another client.
    cluster_at({**CLIENT, "client.id": "other"}).described(["t0"])
    assert len(Admin.made) == 2


def test_one_topic_that_may_not_be_read_hides_no_other_and_a_cluster_that_is_away_is_asked_once() -> None:
    Admin.wrong["t1"] = KafkaError.TOPIC_AUTHORIZATION_FAILED
    found = ConfluentBroker(sources("t0")[0]).facts_of(sources("t0", "t1", "t2"))
    assert [one.code if isinstance(one, FreshetError) else "" for one in found] == ["", "KAFKA_DENIED", ""]
    Admin.made.clear()
    cluster_module._OPEN.clear()
    Admin.wrong = {"t0": KafkaError._TIMED_OUT}
    found = ConfluentBroker(sources("t0")[0]).facts_of(sources("t0", "t1", "t2"))
    assert [one.code for one in found if isinstance(one, FreshetError)] == ["KAFKA_UNREACHABLE"] * 3
    assert len(Admin.made) == 1
    # What failed is not gone on with.
    cluster_at(CLIENT).described([])
    assert len(cluster_module._OPEN) == 1


def test_a_login_that_is_refused_is_heard_though_the_questions_only_time_out() -> None:
    Admin.wrong, Admin.heard = {"t0": KafkaError._TIMED_OUT}, [KafkaError._TRANSPORT, KafkaError._AUTHENTICATION]
    found = ConfluentBroker(sources("t0")[0]).facts_of(sources("t0", "t1"))
    assert [one.code for one in found if isinstance(one, FreshetError)] == ["KAFKA_DENIED"] * 2


def test_a_look_at_a_project_of_topics_asks_the_cluster_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held = MemoryBroker({(f"t{n}", 0): (0, 0) for n in range(5)})
    monkeypatch.setattr(source_module, "open_broker", lambda topics: held)
    project, state = specs("t0", "t1", "t2", "t3", "t4"), OneLook(MemoryState({}))
    look_together(project, state)
    assert [pipeline_status(spec, state).state for spec in project] == ["new"] * 5
    assert {compile_plan(spec, state, RunRequest()).window.kind for spec in project} == {"idle"}
    assert held.asked == 1
    # One pipeline by itself: its status and the plan that it is taken from.
    pipeline_status(project[0], MemoryState({}))
    assert held.asked == 2


def test_what_the_cluster_did_not_tell_is_said_of_each_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    Admin.wrong = {f"t{n}": KafkaError._TIMED_OUT for n in range(3)}
    project, state = specs("t0", "t1", "t2"), OneLook(MemoryState({}))
    look_together(project, state)
    assert [pipeline_status(spec, state).state for spec in project] == ["KAFKA_UNREACHABLE"] * 3
    assert len(Admin.made) == 1


def _asked_ms(found: object) -> int:
    assert isinstance(found, Facts)
    return found.asked_ms
