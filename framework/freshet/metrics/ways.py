"""The ways out of metrics: a file for a node exporter, a Pushgateway, an OpenTelemetry collector, a StatsD server.

Own, and by no library: of gauges and counters each form is a few lines, and what a run may need is then always there.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from urllib.parse import unquote

from freshet import __version__
from freshet.metrics.http import host_of, send
from freshet.metrics.registry import BY_NAME
from freshet.metrics.samples import Sample
from freshet.metrics.text import CONTENT_TYPE, number, text_of
from freshet.project.model.promises import MetricsOut

#: Sends a pipeline's samples; raises what keeps it from that. Told the environment, the pipeline and the samples.
Way = Callable[[str, str, Sequence[Sample]], None]
# What UDP carries in one piece through every network.
_DATAGRAM_BYTES = 1432
# What separates the parts of a line of StatsD.
_OF_STATSD = re.compile(r"[|:@#,\s]")
_OTLP_UNITS = {"seconds": "s", "bytes": "By"}


def ways_of(out: MetricsOut, environ: Mapping[str, str]) -> dict[str, Way]:
    """Return the ways of an environment, each by what people call it, without a secret.

    Args:
        out: What the environment declares.
        environ: The process's environment, for OTEL_EXPORTER_OTLP_HEADERS.
    """
    seconds = float(out.timeout_seconds)
    found: dict[str, Way] = {}
    if out.textfile:
        found[f"the textfile folder {out.textfile}"] = lambda env, name, samples: _textfile(out.textfile, env, name, samples)
    if out.pushgateway:
        found[f"the Pushgateway at {host_of(out.pushgateway)}"] = lambda env, name, samples: send(
            f"{out.pushgateway.rstrip('/')}/metrics/job/freshet/env/{env}/pipeline/{name}",
            "PUT",
            text_of(samples).encode(),
            {"Content-Type": CONTENT_TYPE},
            seconds,
        )
    if out.otlp:
        headers = {"Content-Type": "application/json", **_otlp_headers(environ)}
        found[f"the OTLP collector at {host_of(out.otlp)}"] = lambda env, name, samples: send(
            out.otlp, "POST", json.dumps(otlp_of(samples)).encode(), headers, seconds
        )
    if out.statsd:
        found[f"the StatsD server at {out.statsd}"] = lambda env, name, samples: _statsd(out.statsd, samples)
    return found


def _textfile(folder: str, env: str, name: str, samples: Sequence[Sample]) -> None:
    if not os.path.isdir(folder):
        # Made here, it would hide that nobody reads it.
        raise OSError("there is no such folder")
    path = os.path.join(folder, f"freshet_{env}_{name}.prom")
    # The collector reads what ends with .prom, whole or not.
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text_of(samples))
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            os.remove(beside)
        raise OSError(error.strerror or str(error)) from error


def _otlp_headers(environ: Mapping[str, str]) -> dict[str, str]:
    given = environ.get("OTEL_EXPORTER_OTLP_METRICS_HEADERS") or environ.get("OTEL_EXPORTER_OTLP_HEADERS") or ""
    pairs = (part.partition("=") for part in given.split(",") if "=" in part)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}


def otlp_of(samples: Sequence[Sample]) -> dict[str, object]:
    """Return samples as OTLP's ExportMetricsServiceRequest, in its JSON form.

    Args:
        samples: Those of one metric side by side.
    """
    metrics = [
        {
            "name": name,
            "description": BY_NAME[name].help,
            "unit": _OTLP_UNITS.get(BY_NAME[name].unit) or (f"{{{BY_NAME[name].unit}}}" if BY_NAME[name].unit else "1"),
            **_data(BY_NAME[name].is_counter, [_point(one, nanoseconds) for one in group]),
        }
        for nanoseconds in (_made(samples),)
        for name, group in groupby(samples, key=lambda sample: sample.name)
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "freshet"}}]}
    scope = {"name": "freshet", "version": __version__}
    return {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"scope": scope, "metrics": metrics}]}]}


def _data(is_counter: bool, points: list[dict[str, object]]) -> dict[str, object]:
    # 2 is cumulative: since the pipeline's first run, whenever that was.
    return (
        {"sum": {"aggregationTemporality": 2, "isMonotonic": True, "dataPoints": points}}
        if is_counter
        else {"gauge": {"dataPoints": points}}
    )


def _made(samples: Sequence[Sample]) -> str:
    made = next((one.value for one in samples if one.name == "freshet_metrics_timestamp_seconds"), 0.0)
    # A text: JSON's numbers are too short for it.
    return f"{round(made * 1000)}000000"


def _point(sample: Sample, nanoseconds: str) -> dict[str, object]:
    attributes = [{"key": label, "value": {"stringValue": value}} for label, value in sample.labels]
    return {"attributes": attributes, "timeUnixNano": nanoseconds, "asDouble": float(sample.value)}


def _statsd(address: str, samples: Sequence[Sample]) -> None:
    host, _, port = address.rpartition(":")
    place = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(place[0], socket.SOCK_DGRAM) as out:
        for datagram in datagrams_of(samples):
            out.sendto(datagram, place[4])


def datagrams_of(samples: Sequence[Sample]) -> Iterator[bytes]:
    """Yield samples as gauges of StatsD with tags, several lines in each datagram; of a counter, how far it has risen."""
    waiting = b""
    for one in samples:
        tags = ",".join(f"{label}:{_OF_STATSD.sub('_', value)}" for label, value in one.labels)
        line = f"{one.name}:{number(one.value)}|g|#{tags}".encode()
        if waiting and len(waiting) + 1 + len(line) > _DATAGRAM_BYTES:
            yield waiting
            waiting = b""
        waiting = waiting + b"\n" + line if waiting else line
    if waiting:
        yield waiting
