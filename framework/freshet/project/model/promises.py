"""What a pipeline promises its readers, what its runs may cost, and where an environment's metrics and lineage go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Slo:
    """What a pipeline promises: its service level objectives.

    Args:
        freshness_seconds: So long at most a commit of an input waits until the target holds it; None for no promise.
        max_runtime_seconds: So long at most a run takes; None for no promise.
        completeness: This share of each window's events, from 0 to 1, has been taken once its lateness is over; None for no
            promise.
    """

    freshness_seconds: int | None = None
    max_runtime_seconds: int | None = None
    completeness: float | None = None


NO_SLO = Slo()


@dataclass(frozen=True, kw_only=True)
class EventTimes:
    """Whose event times a run counts, and by which windows.

    Args:
        column: Column of the target; empty where a changelog's events say it themselves, and where nothing does.
        window_seconds: Events are counted by windows of so long; 0 where their latency alone is counted.
        lateness_seconds: So long after its end all events of a window have to be there.
    """

    column: str = ""
    window_seconds: int = 0
    lateness_seconds: int = 0


@dataclass(frozen=True, kw_only=True)
class MetricsOut:
    """Where the metrics of an environment go after each run; an empty text for nowhere.

    Args:
        textfile: Absolute path of the folder that a node exporter's textfile collector reads.
        pushgateway: URL of a Prometheus Pushgateway.
        otlp: URL to which an OpenTelemetry collector takes metrics over HTTP.
        statsd: Host and port of a StatsD server, as ``host:port``.
        slack, webhook: URLs that are told what is wrong with a pipeline, and that it is right again.
        repeat_seconds: After so long what is still wrong is told again.
        timeout_seconds: So long all of them together may take.
    """

    textfile: str = ""
    pushgateway: str = ""
    otlp: str = ""
    statsd: str = ""
    slack: str = ""
    webhook: str = ""
    repeat_seconds: int = 86_400
    timeout_seconds: int = 5

    @property
    def is_any(self) -> bool:
        """Return True where there is a way out."""
        return bool(self.textfile or self.pushgateway or self.otlp or self.statsd or self.notifies)

    @property
    def notifies(self) -> bool:
        """Return True where people are told of troubles."""
        return bool(self.slack or self.webhook)


NO_METRICS = MetricsOut()


@dataclass(frozen=True, kw_only=True)
class BudgetSpec:
    """What a run may cost at most; None for no limit.

    Args:
        seconds: Wall time without the start of Spark.
        written_bytes: Bytes of the files that it writes.
        file_groups: File groups that it writes to.
        over: What becomes of a run that is estimated to cost more.
    """

    seconds: int | None = None
    written_bytes: int | None = None
    file_groups: int | None = None
    over: Literal["warn", "refuse"] = "warn"


NO_BUDGET = BudgetSpec()


@dataclass(frozen=True, kw_only=True)
class LineageOut:
    """Where an environment's lineage goes, as OpenLineage events; an empty text for nowhere.

    Args:
        file: Absolute path of a file to which each event is appended as a line of JSON.
        url: URL of a server that takes events over HTTP.
        endpoint: Where below it.
        api_key: What the server knows the sender by; empty for nothing.
        namespace: Of the jobs; empty for ``freshet.<env>``.
        timeout_seconds: So long a run waits at its end until its events are sent.
    """

    file: str = ""
    url: str = ""
    endpoint: str = "api/v1/lineage"
    api_key: str = field(default="", repr=False)
    namespace: str = ""
    timeout_seconds: int = 5

    @property
    def is_any(self) -> bool:
        """Return True where there is a way out."""
        return bool(self.file or self.url)


NO_LINEAGE = LineageOut()
