"""``plan`` and ``status`` say what of a target was made by an older logic, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from freshet.hudi.checkpoint import ORIGIN_KEY, PIPELINE_KEY, encode
from freshet.hudi.timeline import TimelineState
from freshet.plan.logic import with_logic
from freshet.plan.stages import Commit
from freshet.project.load.project import load_project
from tests.kit.memory import a_checkpoint, at
from tests.kit.project import DDL, PIPELINE, SQL
from tests.kit.timeline import OF_A_PIPELINE, HandMade, a_table, commit
from tests.unit.cli.conftest import Freshet, parsed


@pytest.fixture
def target(root: Path) -> HandMade:
    """Return a target of one day, 2026-08-01, whose commits do not tell their logic yet."""
    a_table(root, "raw/events", 10)
    pipeline = PIPELINE.format(name="payments", source="events")
    (root / "ddl/payments.sql").write_text(
        DDL.format(name="payments")
        .replace("updated_at TIMESTAMP", "updated_at TIMESTAMP, day STRING NOT NULL")
        .replace("USING hudi", "USING hudi PARTITIONED BY (day)")
    )
    (root / "transformers/payments.sql").write_text(SQL.replace(" FROM", ", '2026-08-01' AS day FROM"))
    (root / "pipelines/payments.yml").write_text(
        f"partition_is_stable: true\nbackfill: {{event_time: updated_at, partition: day}}\n{pipeline}"
        "  hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL\n"
    )
    made = HandMade(root / "data/derived/payments", f"{OF_A_PIPELINE}hoodie.table.partition.fields=day\n")
    made.done(
        15,
        commit(
            {**encode(a_checkpoint(10, str(root / "data/raw/events"))), PIPELINE_KEY: "payments", ORIGIN_KEY: "whole_table"},
            numInserts=3,
        ),
    )
    return made


def renewed(root: Path, target: HandMade, moment: int) -> None:
    """Put a commit of a full load by the present logic."""
    spec = load_project(root, environ={}).pipelines[0]
    vector = encode(a_checkpoint(10, str(root / "data/raw/events")))
    stage = Commit(
        table=spec.target.ref,
        operation="upsert",
        options={},
        metadata={**vector, PIPELINE_KEY: "payments", ORIGIN_KEY: "whole_table"},
    )
    found = with_logic(stage, spec, TimelineState().table(spec.target.ref), whole=True)
    target.done(moment, commit(dict(found.metadata), numInserts=3))


def logic_of(text: str) -> list[str]:
    lines = text.splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith("  logic ")), None)
    return [
        line[14:]
        for n, line in enumerate(lines)
        if begin is not None and (n == begin or (n > begin and line.startswith(" " * 14)))
    ]


def test_not_known_then_present_then_changed(freshet: Freshet, root: Path, target: HandMade) -> None:
    found = parsed(freshet("plan", "--output", "json"))["plans"][0]["logic"]
    assert (found["known"], found["older"]) == (False, [])
    assert "not known" in logic_of(freshet("plan").stdout)[0]
    assert "logic" not in freshet("status").stdout

    renewed(root, target, 30)
    assert logic_of(freshet("plan").stdout) == []
    assert parsed(freshet("status", "--output", "json"))["pipelines"][0]["logic"]["partitions"] == 2

    file = root / "transformers/payments.sql"
    file.write_text(file.read_text() + "-- said\n")
    assert logic_of(freshet("plan").stdout) == []
    file.write_text(file.read_text().replace("amount", "amount * 2 AS amount"))
    result = freshet("plan", "--output", "json")
    found = parsed(result)["plans"][0]["logic"]
    # By hand the table's commits have replaced a file of the day before, too.
    assert (found["changed"], found["since"], found["older"]) == (True, at(30), ["2026-07-31", "2026-08-01"])
    assert found["command"] == "freshet backfill payments --start 2026-07-31 --end 2026-08-02"
    lines = logic_of(freshet("plan").stdout)
    assert lines[0].endswith("transformers/payments.sql")
    assert lines[1:] == [
        "2 days still hold rows of an older logic; 2026-07-31 to 2026-08-01",
        f"to renew them: {found['command']}",
    ]
    assert "payments: its logic has changed; 2 days still hold rows of an older logic" in freshet("status").stdout
    assert freshet("run", "payments", "--dry-run").stdout == freshet("plan", "payments").stdout


def test_before_the_first_run_there_is_nothing_to_say(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    result = freshet("plan", "--output", "json")
    assert (parsed(result)["plans"][0]["logic"], logic_of(freshet("plan").stdout)) == (None, [])


def test_a_chunk_tells_the_logic_of_the_runs(freshet: Freshet, root: Path, target: HandMade) -> None:
    """Whatever its SQL is rendered as with the chunk's dates; and none where it cannot be rendered without them."""
    file = root / "transformers/payments.sql"
    file.write_text(file.read_text() + "{% if start is defined %} WHERE updated_at >= '{{ start }}' {% endif %}")
    renewed(root, target, 30)

    def metadata() -> dict[str, str]:
        words = ("backfill", "payments", "--start", "2026-08-01", "--end", "2026-08-03", "--dry-run", "--output", "json")
        plan = parsed(freshet(*words))["first"]
        return next(stage for stage in plan["stages"] if stage["stage"] == "commit")["metadata"]  # type: ignore[no-any-return]

    told = metadata()["streamer.freshet.logic"]
    run = load_project(root, environ={}).pipelines[0]
    stage = with_logic(
        Commit(table=run.target.ref, operation="upsert", options={}),
        run,
        TimelineState().table(run.target.ref),
        renews=("2026-08-01",),
    )
    assert told == stage.metadata["streamer.freshet.logic"]
    file.write_text(file.read_text().replace("{% if start is defined %}", "").replace("{% endif %}", ""))
    assert "streamer.freshet.logic" not in metadata()
