"""What a metric is, and what its labels may say.

Names, units and labels follow Prometheus and OpenMetrics: the unit ends the name, times are seconds since 1970, and what has
an age is told as its time, so that ``time() - it`` stays true when nobody tells it any longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: On every sample: of which environment it is.
ENV = "env"
#: What each label says.
LABELS: Mapping[str, str] = {
    ENV: "The environment, `configs/<env>.yml`.",
    "pipeline": "The pipeline's name.",
    "owner": "Its `owner`, on `freshet_pipeline_info` and on alerts alone.",
    "target": "The table that it writes, on `freshet_pipeline_info` alone.",
    "input": "The table that is read: the main source, or an input that drives runs.",
    "kind": "Which of several numbers, or which state.",
    "result": "How something ended.",
    "phase": "A part of a run: `total`, `session`, `transform`, `write` and others that `freshet history` names.",
    "check": "The check's name.",
}
#: Values of ``result`` of a run, of a check, and of a promise.
RUN_RESULTS = ("committed", "idle", "failed", "killed", "busy", "skipped")
CHECK_RESULTS = ("passed", "warned", "dropped", "failed", "skipped")
SLO_RESULTS = ("kept", "at_risk", "broken")
_TOTAL = "_total"
UNITS = ("seconds", "bytes", "ratio", "rows", "commits", "files", "chunks", "runs", "conflicts")


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric.

    Args:
        name: Its name, the unit included.
        labels: Beside ``env``, in this order.
        help: What it says, in one sentence without quotes.
        derived: What it is derived from.
    """

    name: str
    labels: tuple[str, ...] = ("pipeline",)
    help: str
    derived: str

    @property
    def unit(self) -> str:
        """Return its unit, which ends the name: ``seconds``, ``bytes`` or what is counted; empty where it is a state."""
        last = self.name.removesuffix(_TOTAL).rpartition("_")[2]
        return last if last in UNITS else ""

    @property
    def is_counter(self) -> bool:
        """Return True where it only rises: Prometheus' ``rate`` and ``increase`` are for it."""
        return self.name.endswith(_TOTAL)
