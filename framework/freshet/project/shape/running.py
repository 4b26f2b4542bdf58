"""What configs and pipelines say of how runs go: whom they wait for, how long they may take, and who is told of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator

from freshet.project.model.limits import RunLimits
from freshet.project.model.paths import normal_path
from freshet.project.model.promises import LineageOut, MetricsOut, Slo
from freshet.project.shape.checks import Share, share_of
from freshet.project.shape.strategies import Duration, Model, Name, refused, seconds_of

_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
# A command waits for it after each of its pipelines.
_LONGEST_TIMEOUT = 60


def _has_a_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        # Of half an address in brackets, or a port that is no number.
        return False


def _url(value: str) -> str:
    if "{{" in value:
        # A template as its file has it; rendered it comes here once more.
        return value
    # A host must be there, and no sign that a request would be refused for, in words that hold the URL.
    if not re.fullmatch(r"https?://[^/\s][!-~]*", value) or not _has_a_host(value):
        raise refused("this is no URL of HTTP.", "Write for instance http://pushgateway:9091.")
    return value


def _folder(value: str) -> str:
    if "://" in value:
        raise refused("metrics are written to a folder of this machine only.", "Name the folder that the collector reads.")
    return value


def _file(value: str) -> str:
    if "://" in value:
        raise refused("lineage is written to a file of this machine only.", "Name a file; or a server, under url.")
    return value


def _short(value: str, what: str) -> str:
    if not 0 < (seconds_of(value) or 0) <= _LONGEST_TIMEOUT:
        raise refused(f"a command waits between 1 s and {_LONGEST_TIMEOUT} s for {what}.", "Write for instance 5s.")
    return value


def _address(value: str) -> str:
    if "{{" not in value and not _HOST_AND_PORT.fullmatch(value):
        raise refused("this is no host and port.", "Write for instance 127.0.0.1:8125.")
    return value


class Lease(Model):
    """How two runs of one pipeline at the same moment treat each other."""

    wait_seconds: float = Field(
        0.0,
        ge=0,
        le=86400,
        strict=False,
        description="Seconds that a run waits for another run of the same pipeline; 0 ends at once.",
    )
    across_machines: bool | None = Field(
        None,
        description="True where several machines write to tables on one shared disk; false keeps the lease on each machine "
        "alone. [default: across machines where the table's store is remote and freshet[object-store] is installed]",
    )


class Run(Model):
    """What becomes of a run that hangs."""

    timeout: Duration | None = Field(
        None,
        description="A run that takes longer is ended: RUN_TIMEOUT. Waiting for another run does not count. [default: none]",
    )
    stalled_after: Duration = Field(
        "30m",
        description="A run without a sign of life for so long is logged with its threads; where it does nothing at all, it is "
        "ended: RUN_STALLED. 0s turns it off.",
    )

    def limits(self) -> RunLimits:
        """Return the limits in seconds."""
        return RunLimits(seconds_of(self.timeout or ""), seconds_of(self.stalled_after) or 0)


class Objectives(Model):
    """What the pipeline promises its readers; `freshet status` says what of it is kept."""

    freshness: Duration | None = Field(
        None,
        description="So long at most a commit of an input waits until the target holds it, by its completion time. "
        "[default: no promise]",
    )
    max_runtime: Duration | None = Field(
        None, description="So long at most a run takes; run.timeout is what ends one. [default: no promise]"
    )
    completeness: Share | None = Field(
        None,
        description="This share of the source's events of each window has been taken once its lateness is over, such as 99.9%; "
        "the windows are those of event_times. [default: no promise]",
    )

    @field_validator("freshness", "max_runtime")
    @classmethod
    def _is_some_time(cls, value: str | None) -> str | None:
        if value is not None and seconds_of(value) == 0:
            raise refused("a promise of no time at all is never kept.", "Write for instance 30m, or remove the key.")
        return value

    @field_validator("completeness")
    @classmethod
    def _is_a_part(cls, value: str | None) -> str | None:
        if value is not None and "{{" not in value and not 0 < (share_of(value) or 0) <= 1:
            raise refused("a completeness is more than 0% and at most 100%.", "Write for instance 99.9%.")
        return value

    def promised(self) -> Slo:
        """Return the objectives in seconds, and the completeness as a share of 1."""
        completeness = share_of(self.completeness) if self.completeness is not None else None
        return Slo(seconds_of(self.freshness or ""), seconds_of(self.max_runtime or ""), completeness)


#: Of a pipeline that promises nothing.
NO_PROMISE = Objectives.model_construct()


class Metrics(Model):
    """Where metrics and messages go after each run, idle and failed ones too; one that cannot be reached harms no run."""

    textfile: Annotated[Name, AfterValidator(_folder)] | None = Field(
        None,
        description="Folder that a node exporter's textfile collector reads: a file for each pipeline, freshet_<env>_<pipeline>"
        ".prom.",
    )
    pushgateway: Annotated[Name, AfterValidator(_url)] | None = Field(
        None, description="URL of a Prometheus Pushgateway; each pipeline is a group of its own."
    )
    otlp: Annotated[Name, AfterValidator(_url)] | None = Field(
        None,
        description="URL to which an OpenTelemetry collector takes metrics over HTTP, such as "
        "http://collector:4318/v1/metrics; as JSON, with the headers of OTEL_EXPORTER_OTLP_HEADERS.",
    )
    statsd: Annotated[Name, AfterValidator(_address)] | None = Field(
        None, description="Host and port of a StatsD server: gauges over UDP."
    )
    slack: Annotated[Name, AfterValidator(_url)] | None = Field(
        None,
        description="URL of a Slack incoming webhook that is told what is wrong with a pipeline, and that it is right again.",
    )
    webhook: Annotated[Name, AfterValidator(_url)] | None = Field(None, description="URL that is told the same as plain JSON.")
    repeat_after: Duration = Field("1d", description="After so long what is still wrong is told again.")
    timeout: Duration = Field("5s", description="So long all of them together may take, after each run.")

    @field_validator("timeout")
    @classmethod
    def _is_short(cls, value: str) -> str:
        return _short(value, "metrics")

    def ways_out(self, root: Path) -> MetricsOut:
        """Return them as a run needs them.

        Args:
            root: The project's folder.
        """
        return MetricsOut(
            textfile=normal_path(self.textfile, root) if self.textfile else "",
            pushgateway=self.pushgateway or "",
            otlp=self.otlp or "",
            statsd=self.statsd or "",
            slack=self.slack or "",
            webhook=self.webhook or "",
            repeat_seconds=seconds_of(self.repeat_after) or 0,
            timeout_seconds=seconds_of(self.timeout) or 0,
        )


class Lineage(Model):
    """Where lineage goes as OpenLineage events, when a run begins and when it ends; needs `freshet[lineage]`."""

    file: Annotated[Name, AfterValidator(_file)] | None = Field(
        None, description="File to which each event is appended as a line of JSON."
    )
    url: Annotated[Name, AfterValidator(_url)] | None = Field(
        None, description="URL of a server that takes OpenLineage events over HTTP, such as http://marquez:5000."
    )
    endpoint: Name = Field("api/v1/lineage", description="Where below the URL the server takes events.")
    api_key: Name | None = Field(
        None, description="Sent to the server as a bearer token; write it as {{ env.NAME }}. [default: none]"
    )
    namespace: Name | None = Field(None, description="Namespace of the jobs. [default: freshet.<env>]")
    timeout: Duration = Field("5s", description="So long a run waits at its end until its events are sent.")

    @field_validator("timeout")
    @classmethod
    def _is_short(cls, value: str) -> str:
        return _short(value, "lineage")

    def ways_out(self, root: Path) -> LineageOut:
        """Return them as a run needs them.

        Args:
            root: The project's folder.
        """
        return LineageOut(
            file=normal_path(self.file, root) if self.file else "",
            url=self.url or "",
            endpoint=self.endpoint.strip("/"),
            api_key=self.api_key or "",
            namespace=self.namespace or "",
            timeout_seconds=seconds_of(self.timeout) or 0,
        )


#: Of an environment that names no place.
NOWHERE, NO_LINEAGE = Metrics.model_construct(), Lineage.model_construct()
