"""The pipeline that problems are put into: its files, and the YAML with lines added or left out."""

from __future__ import annotations

from tests.kit.project import DDL, PIPELINE

YML = PIPELINE.format(name="payments", source="events")
YML_FILE = "pipelines/payments.yml"
DDL_FILE = "ddl/payments.sql"
PAYMENTS = DDL.format(name="payments")
PARTITIONED = PAYMENTS.replace("TIMESTAMP\n)", "TIMESTAMP,\n  day STRING\n)").replace(
    "USING hudi\n", "USING hudi\nPARTITIONED BY (day)\n"
)


def yml(*lines: str, without: str = "") -> str:
    """Return the YAML with these lines at its end, and without those that hold a text."""
    kept = [line for line in YML.splitlines() if not without or without not in line]
    return "\n".join([*kept, *lines]) + "\n"
