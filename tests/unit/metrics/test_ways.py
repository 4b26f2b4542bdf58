"""The ways out: a file, a Pushgateway, an OTLP collector, a StatsD server, each against a stub of ours."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from freshet.metrics.samples import Sample, samples_of
from freshet.metrics.text import text_of
from freshet.metrics.ways import datagrams_of, otlp_of, ways_of
from freshet.project.model.promises import MetricsOut
from tests.kit.memory import a_commit, a_table_state
from tests.unit.metrics.kit import BEGIN, looked_at
from tests.unit.metrics.test_text import faults_of

SAMPLES = samples_of([looked_at(a_table_state([a_commit(10)]), now=BEGIN + 0.5)], "prod")


def send(out: MetricsOut, environ: dict[str, str] | None = None) -> None:
    for way in ways_of(out, environ or {}).values():
        way("prod", "earnings", SAMPLES)


class Server(ThreadingHTTPServer):
    """What was asked of it, and what it answers."""

    heard: list[tuple[str, str, dict[str, str], bytes]]
    answers: tuple[int, bytes]
    sent: dict[str, str]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            here: Any = self.server
            here.heard.append((self.command, self.path, dict(self.headers), body))
            self.send_response(here.answers[0])
            for name, value in here.sent.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(here.answers[1])

        do_POST = do_PUT

        def log_message(self, *_: object) -> None:
            pass

    found = Server(("127.0.0.1", 0), Handler)
    found.heard, found.answers, found.sent = [], (200, b""), {}
    thread = threading.Thread(target=found.serve_forever, daemon=True)
    thread.start()
    yield found
    found.shutdown()
    found.server_close()
    thread.join()


def test_each_pipeline_has_a_file_of_its_own(tmp_path: Path) -> None:
    """And no other file ends as the collector wants it, whatever ends this one."""
    send(MetricsOut(textfile=str(tmp_path)))
    assert os.listdir(tmp_path) == ["freshet_prod_earnings.prom"]
    text = (tmp_path / "freshet_prod_earnings.prom").read_text()
    assert (text, faults_of(text)) == (text_of(SAMPLES), [])


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no such folder"):
        send(MetricsOut(textfile=str(tmp_path / "none")))
    assert os.listdir(tmp_path) == []


def test_a_pipeline_is_a_group_of_the_pushgateway(server: Server) -> None:
    """It is put, so that what is no longer true goes; a user of the URL is told by a header, and not in the path."""
    send(MetricsOut(pushgateway=f"http://me:s%40cret@{server.address}/"))
    ((method, path, headers, body),) = server.heard
    assert (method, path) == ("PUT", "/metrics/job/freshet/env/prod/pipeline/earnings")
    assert headers["Authorization"] == "Basic bWU6c0BjcmV0"
    assert headers["Host"] == server.address
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert body.decode() == text_of(SAMPLES)


def test_an_answer_that_refuses_is_an_error_with_its_first_line(server: Server) -> None:
    server.answers = (400, b"pushed metrics are invalid\nmore")
    with pytest.raises(OSError, match=r"it answered 400: pushed metrics are invalid$"):
        send(MetricsOut(pushgateway=f"http://{server.address}"))


def test_a_redirect_is_not_followed(server: Server) -> None:
    """The headers hold keys, which another host must not see."""
    server.answers = (302, b"")
    server.sent = {"Location": f"http://{server.address}/elsewhere"}
    with pytest.raises(OSError, match=r"it answered 302$"):
        send(MetricsOut(otlp=f"http://{server.address}/v1/metrics"))
    assert [path for _, path, _, _ in server.heard] == ["/v1/metrics"]


def test_a_disk_that_is_full_leaves_no_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("freshet.metrics.ways.os.replace", full)
    with pytest.raises(OSError, match=r"^No space left on device$"):
        send(MetricsOut(textfile=str(tmp_path)))
    assert os.listdir(tmp_path) == []


def test_otlp(server: Server) -> None:
    headers = {"OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20key, x-scope = y"}
    send(MetricsOut(otlp=f"http://{server.address}/v1/metrics"), headers)
    ((method, path, sent, body),) = server.heard
    assert (method, path, sent["Content-Type"]) == ("POST", "/v1/metrics", "application/json")
    assert (sent["Api-Key"], sent["X-Scope"]) == ("a key", "y")
    (resource,) = json.loads(body)["resourceMetrics"]
    metrics = {one["name"]: one for one in resource["scopeMetrics"][0]["metrics"]}
    lag = metrics["freshet_source_lag_seconds"]
    assert lag["unit"] == "s"
    (point,) = lag["gauge"]["dataPoints"]
    assert point["asDouble"] == 0.49
    assert point["timeUnixNano"] == f"{int(BEGIN)}500000000"
    assert {one["key"]: one["value"]["stringValue"] for one in point["attributes"]} == {
        "env": "prod",
        "pipeline": "earnings",
        "input": "raw.trips",
    }
    assert metrics["freshet_source_waiting_rows"]["unit"] == "{rows}"
    runs = metrics["freshet_runs_total"]["sum"]
    assert (runs["isMonotonic"], runs["aggregationTemporality"], "gauge" in metrics["freshet_runs_total"]) == (True, 2, False)
    assert metrics["freshet_pipeline_state"]["unit"] == "1"
    assert resource["resource"]["attributes"][0]["value"] == {"stringValue": "freshet"}


def test_statsd() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        send(MetricsOut(statsd=f"127.0.0.1:{server.getsockname()[1]}"))
        lines: list[bytes] = []
        while len(lines) < len(SAMPLES):
            lines += server.recv(65536).split(b"\n")
    assert b"freshet_source_waiting_rows:10|g|#env:prod,pipeline:earnings,input:raw.trips" in lines
    assert len(lines) == len(SAMPLES)


def test_a_datagram_is_small_and_what_separates_is_replaced() -> None:
    odd = Sample(name="freshet_pipeline_info", labels=(("env", "a|b"), ("owner", "x,y:z #1")), value=1)
    assert list(datagrams_of([odd])) == [b"freshet_pipeline_info:1|g|#env:a_b,owner:x_y_z__1"]
    many = list(datagrams_of([odd] * 100))
    assert max(map(len, many)) <= 1432
    assert sum(one.count(b"freshet") for one in many) == 100


def test_names_of_ways_hold_no_secret() -> None:
    out = MetricsOut(pushgateway="http://me:secret@gate:9091", otlp="https://k:secret@o:4318/v1/metrics?token=t", statsd="h:1")
    named = " ".join(ways_of(out, {}))
    assert named == "the Pushgateway at gate:9091 the OTLP collector at o:4318 the StatsD server at h:1"


def test_otlp_of_nothing_is_empty() -> None:
    assert json.dumps(otlp_of([]))
