"""What freshet asks ZooKeeper of a development HBase, by ZooKeeper's own protocol, with a listener in its place: no JVM."""

from __future__ import annotations

import socket
import struct
import threading
from io import BufferedRWPair

import pytest

from freshet.dev.hbase import look as look_module
from freshet.dev.hbase.files import State
from freshet.dev.hbase.look import forget_the_dead
from freshet.dev.hbase.zookeeper import connect


class FakeZooKeeper:
    """Answers the frames of one node tree: path -> (creation in ms, names of children)."""

    def __init__(self, nodes: dict[str, tuple[int, tuple[str, ...]]]) -> None:
        self.nodes, self.deleted = nodes, list[str]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection, connection.makefile("rwb") as stream:
                self._read(stream)
                self._write(stream, struct.pack(">iiqi16s?", 0, 10_000, 1, 16, b"", False))
                while frame := self._read(stream):
                    number, kind = struct.unpack_from(">ii", frame)
                    body, error = self._answer(kind, frame[8:])
                    self._write(stream, struct.pack(">iqi", number, 0, error) + body)

    def _answer(self, kind: int, request: bytes) -> tuple[bytes, int]:
        if kind == -11:
            return b"", 0
        (length,) = struct.unpack_from(">i", request)
        node = request[4 : 4 + length].decode()
        if node not in self.nodes:
            return b"", -101
        created, names = self.nodes[node]
        if kind == 3:
            return struct.pack(">qqq", 1, 1, created) + bytes(44), 0
        if kind == 2:
            self.deleted.append(node)
            return b"", 0
        return struct.pack(">i", len(names)) + b"".join(struct.pack(">i", len(n)) + n.encode() for n in names), 0

    @staticmethod
    def _read(stream: BufferedRWPair) -> bytes:
        head = stream.read(4)
        return stream.read(struct.unpack(">i", head)[0]) if head else b""

    @staticmethod
    def _write(stream: BufferedRWPair, frame: bytes) -> None:
        stream.write(struct.pack(">i", len(frame)) + frame)
        stream.flush()


OLD, NEW = "localhost,1,1000", "localhost,2,3000"


@pytest.fixture
def zookeeper() -> FakeZooKeeper:
    return FakeZooKeeper(
        {
            "/hbase/rs": (1, (NEW, OLD)),
            f"/hbase/rs/{OLD}": (1000, ()),
            f"/hbase/rs/{NEW}": (3000, ()),
            "/hbase/master": (1000, ()),
        }
    )


def test_zookeeper_is_asked(zookeeper: FakeZooKeeper) -> None:
    with connect(zookeeper.port) as session:
        assert session.children("/hbase/rs") == (OLD, NEW)
        assert session.children("/nowhere") == ()
        assert session.created_ms("/hbase/master") == 1000
        assert session.created_ms("/nowhere") is None
        session.delete("/nowhere")
    assert zookeeper.deleted == []


def test_only_what_a_dead_process_left_is_forgotten(zookeeper: FakeZooKeeper) -> None:
    state = State(port=zookeeper.port, region_servers=1, launched_ms=2000)
    assert look_module._registered(state) == 1
    assert forget_the_dead(state)
    assert zookeeper.deleted == [f"/hbase/rs/{OLD}", "/hbase/master"]
    zookeeper.nodes["/hbase/master"] = (2500, ())
    zookeeper.deleted.clear()
    assert forget_the_dead(state)
    assert zookeeper.deleted == [f"/hbase/rs/{OLD}"]


def test_where_no_zookeeper_answers_none_is_registered() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    state = State(port=port, region_servers=1, launched_ms=2000)
    assert look_module._registered(state) == 0
    assert not forget_the_dead(state)
