"""What is known of a project, from its files, hand-made timelines and records; and the pages of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from freshet.backfill.record import ChunkRecord, encode_chunk
from freshet.errors import SpecError
from freshet.hudi.checkpoint import CHECKS_KEY, ORIGIN_KEY, PIPELINE_KEY, RUN_ID_KEY
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.run.records import write_record
from freshet.site.facts import PipelineFacts
from freshet.site.gather import slugs_of
from freshet.site.pages import pages
from freshet.site.remedies import remedy_of
from tests.kit.html import Html, faults_of
from tests.kit.memory import at
from tests.kit.project import BASE, DDL, PIPELINE, SQL, a_project
from tests.kit.timeline import OF_A_QUARANTINE, HandMade, a_table, a_target, clean, commit
from tests.unit.site.conftest import Facts


def one(facts: Facts, name: str = "payments", **more: Any) -> PipelineFacts:
    return next(found for found in facts(**more).pipelines if found.name == name)


def recorded(root: Path, begun: int, outcome: str = "committed", what: str = "run", **more: Any) -> None:
    ref = TableRef("derived.payments", str(root / "data/derived/payments"))
    write_record(ref, "payments", {"what": what, "begun": at(begun), "outcome": outcome, **more})


def downstream(root: Path) -> None:
    """Add ``refunds``, which reads what ``payments`` writes."""
    path = '"{{ var.derived_root }}/payments"'
    text = PIPELINE.format(name="refunds", source="x").replace('"{{ var.raw_root }}/x"', path)
    accepts = (root / "pipelines/payments.yml").read_text().splitlines()[-1]
    a_project(root, "refunds", files={"pipelines/refunds.yml": f"{text}{accepts}\n"})


def test_where_it_stands_and_what_to_do(facts: Facts, root: Path) -> None:
    a_table(root, "raw/events", 10, 20, 30)
    a_target(root, (15, 10))
    error = {"code": "OVERFLOW", "message": "a value does not fit"}
    recorded(root, 40, "failed", error=error, seconds={"total": 2.0})
    found = one(facts)
    it = found.standing
    assert (it.state, it.tone, it.last_commit, it.checkpoint) == ("behind", "bad", at(15), at(10))
    assert it.label == "behind, last run failed"
    assert [(w.input, w.commits, w.rows) for w in it.waits] == [("raw.events", 2, 20)]
    (trouble,) = found.troubles
    assert (trouble.kind, trouble.code, trouble.command) == ("run_failed", "OVERFLOW", "freshet history payments --failed")
    assert trouble.remedy, "by the registry of codes"
    assert [(run.what, run.outcome, run.code) for run in found.runs] == [
        ("run", "failed", "OVERFLOW"),
        ("run", "committed", ""),
    ]
    assert found.details.plan.stages[0].startswith("read <SRC>")
    assert found.details.verdict.startswith("exact if")
    assert found.details.checkpoint[0].input == "<SRC>"
    assert [column.name for column in found.details.columns] == ["id", "amount", "updated_at"]
    assert [file.kind for file in found.details.files] == ["yaml", "ddl", "sql"]
    assert found.details.missing == ()


def test_what_to_do_names_the_pipeline() -> None:
    assert "`freshet checks payments --next`" in remedy_of("CHECK_FAILED", "payments")
    assert "{{ env.NAME }}" in remedy_of("SECRET_IN_FILE", "payments"), "which is no pipeline"
    assert remedy_of("NO_SUCH_CODE", "payments") == ""


def test_the_pages_of_a_project_as_it_is(facts: Facts, root: Path) -> None:
    """Two pipelines of which one reads the other, one that is refused, one that never ran: links, ids and words."""
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    downstream(root)
    a_project(root, "expired", source="old_events")
    a_table(root, "raw/old_events", 10, 20, 30).done(40, clean(at(25)), "clean")
    a_target(root, (15, 10), name="derived/expired", source="raw/old_events")
    a_project(root, "fresh", source="new_events")
    a_table(root, "raw/new_events", 10)
    found = facts()
    assert {p.name: p.standing.state for p in found.pipelines} == {
        "payments": "behind",
        "refunds": "new",
        "expired": "CHECKPOINT_EXPIRED",
        "fresh": "new",
    }
    made = pages(found)
    assert faults_of(made) == []
    assert 'href="payments.html#column-1"' in made["pipelines/refunds.html"], "from which column a column comes"
    assert 'href="refunds.html#column-1"' in made["pipelines/payments.html"], "and where it goes"
    assert "CHECKPOINT_EXPIRED" in Html(made["index.html"]).text
    assert "raw.new_events" in made["dag.html"]


def test_each_state_of_a_table_is_told(facts: Facts, root: Path) -> None:
    """Checks of the last commits, the quarantine, a backfill half done, and what the services did."""
    a_table(root, "raw/events", 10)
    top = "backfill: {event_time: updated_at}\nchecks: [{name: large, severity: drop, where: amount > 9}]\n"
    text = (root / "pipelines/payments.yml").read_text()
    (root / "pipelines/payments.yml").write_text(top + text)
    target = a_target(root, (15, 10))

    def own(origin: str, **more: str) -> dict[str, str]:
        return {PIPELINE_KEY: "payments", ORIGIN_KEY: origin, RUN_ID_KEY: "r", **more}

    def chunk(day: int, state: str) -> dict[str, str]:
        record = ChunkRecord(
            backfill="2026-01-05T00:00:00/2026-01-08T00:00:00/1d",
            start=f"2026-01-0{day}T00:00:00",
            end=f"2026-01-0{day + 1}T00:00:00",
            chunks=3,
            state=state,
            base=at(1),
            write="upsert",
            error="OVERFLOW" * (state == "failed"),
        )  # type: ignore[arg-type]
        return own("backfill", **encode_chunk(record))

    checks = {"rows": 9, "quarantined": 2, "checks": {"large": {"status": "dropped", "rows": 2}}}
    target.done(20, commit(own("increment", **{CHECKS_KEY: json.dumps(checks)}), numInserts=3))
    target.done(30, commit(chunk(5, "done"), numInserts=3))
    target.done(40, commit(chunk(6, "failed")))
    target.done(50, clean(at(2)), "clean")
    HandMade(root / "data/derived/payments_quarantine", OF_A_QUARANTINE).done(
        19, commit({RUN_ID_KEY: "r", ORIGIN_KEY: "run"}, numInserts=2)
    )
    found = one(facts)
    assert [(row.name, row.severity, row.found) for row in found.details.checks] == [("large", "drop", (("dropped", 2),))]
    quarantine = found.details.quarantine
    assert quarantine is not None
    assert (quarantine.sent, quarantine.inserted, quarantine.deleted) == (((at(20), 2),), 2, 0)
    (backfill,) = found.backfills
    assert (backfill.chunks, backfill.done, backfill.failed, backfill.errors) == (3, 1, 1, ("OVERFLOW",))
    assert backfill.command == "freshet backfill payments --start 2026-01-05 --end 2026-01-08 --chunk 1d"
    assert found.services is not None
    assert found.services.last == {"cleaning": at(50)}
    made = pages(facts())
    assert faults_of(made) == []
    assert "1 of 3 chunks done (33%)" in Html(made["backfills.html"]).text


def test_one_whose_files_are_wrong_hides_no_other(facts: Facts, root: Path) -> None:
    """Whatever is wrong with it: its YAML, its DDL, its SQL, or a file that cannot be read."""
    a_table(root, "raw/events", 10)
    for name, wrong in (
        ("typo", {"pipelines/typo.yml": "inptus: {}\n"}),
        ("nokey", {"ddl/nokey.sql": "CREATE TABLE derived.nokey (id STRING) USING hudi;\n"}),
        ("broken", {"transformers/broken.sql": "DELETE FROM x\n"}),
        ("bytes", {"pipelines/bytes.yml": b"\xff\xfe"}),
    ):
        a_project(root, name, files=wrong)  # type: ignore[arg-type]
    found = facts()
    states = {p.name: p.standing.state for p in found.pipelines}
    assert states == {"payments": "new", **dict.fromkeys(("broken", "bytes", "nokey", "typo"), "invalid")}
    for name, place in (("typo", "pipelines/typo.yml"), ("nokey", "ddl/nokey.sql"), ("broken", "transformers/broken.sql")):
        wrong_one = next(p for p in found.pipelines if p.name == name)
        assert any(problem.place.startswith(place) for problem in wrong_one.problems), name
        assert place in [file.name for file in wrong_one.details.files], name
        assert wrong_one.troubles[0].command == f"freshet validate {name}"
    assert found.problems == ()
    assert faults_of(pages(found)) == []


def test_what_is_wrong_with_a_config_is_told_once(facts: Facts, root: Path) -> None:
    a_project(root, "second")
    (root / "configs/base.yml").write_text(BASE + "hoodi: {}\n")
    found = facts()
    assert [p.standing.state for p in found.pipelines] == ["invalid", "invalid"]
    assert [(problem.code, problem.place) for problem in found.problems] == [("UNKNOWN_KEY", "configs/base.yml:3")]
    assert faults_of(pages(found)) == []


def test_a_file_that_keeps_every_pipeline_from_being_loaded(facts: Facts, root: Path) -> None:
    """One whose name is none: no command takes any pipeline, and the first page says why."""
    a_project(root, "second", files={"pipelines/my pipe.yml": "ddl: x\n"})
    found = facts()
    assert {p.standing.state for p in found.pipelines} == {"invalid"}
    assert [problem.code for problem in found.problems] == ["BAD_NAME"]
    assert faults_of(pages(found)) == []


def test_two_that_are_wrong_together(facts: Facts, root: Path) -> None:
    a_project(root, "second", files={"ddl/second.sql": DDL.format(name="payments")})
    found = facts()
    assert {p.name: p.standing.state for p in found.pipelines} == {"payments": "invalid", "second": "invalid"}
    assert faults_of(pages(found)) == []


def test_a_project_without_a_pipeline_and_what_is_none(facts: Facts, root: Path) -> None:
    (root / "pipelines/payments.yml").unlink()
    found = facts()
    assert found.pipelines == ()
    assert [problem.code for problem in found.problems] == ["NO_PIPELINES"]
    assert faults_of(pages(found)) == []
    with pytest.raises(SpecError) as refused:
        facts(env="prd")
    assert "UNKNOWN_ENV" in str(refused.value)
    (root / "configs/base.yml").unlink()
    with pytest.raises(SpecError):
        facts()


def test_no_page_holds_a_secret(facts: Facts, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of env with signs that HTML escapes, in a path, a variable and the owner; and a password that stands in a file."""
    secret = "hunter<2>&\"q'uote"
    monkeypatch.setenv("LAKE_KEY", secret)
    config = BASE.replace("vars: {", 'vars: {key: "{{ env.LAKE_KEY }}", ')
    (root / "configs/base.yml").write_text(config + 'spark: {spark.some.password: "correct-horse"}\n')
    text = (root / "pipelines/payments.yml").read_text()
    (root / "pipelines/payments.yml").write_text('owner: "{{ env.LAKE_KEY }}"\n# password: battery-staple\n' + text)
    (root / "transformers/payments.sql").write_text(SQL.replace("FROM", ", '{{ var.key[:4] }}x' AS more FROM"))
    recorded(root, 40, "failed", error={"code": "X", "message": f"no {secret} here"})
    found = facts()
    made = pages(found)
    whole = "".join(Html(page).text for path, page in made.items() if path.endswith(".html"))
    for part in (secret, "hunter", "correct-horse", "battery-staple"):
        assert part not in whole, part
    assert "${env.LAKE_KEY}" in whole
    assert faults_of(made) == []


def test_a_name_that_is_a_secret_elsewhere_makes_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.site.gather.redact", lambda text: text.replace("payments", "${env.X}"))
    assert slugs_of(["payments", "refunds", "Refunds", "pipeline--9"]) == {
        "payments": "pipeline--1",
        "refunds": "refunds",
        "Refunds": "pipeline--3",
        "pipeline--9": "pipeline--9",
    }


def test_a_table_that_cannot_be_read_hides_nothing_else(facts: Facts, root: Path) -> None:
    """A timeline that is no timeline, a record that is no record, and a source that is gone."""
    a_project(root, "second", source="other")
    a_table(root, "raw/other", 10)
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10)).done(20, b"no avro")
    folder = root / "data/derived/.freshet/payments.runs/payments"
    folder.mkdir(parents=True)
    (folder / "20260801101500040-00000000.failed.json").write_text("{")
    found = facts()
    broken, second = found.pipelines
    assert broken.standing.tone == "bad"
    assert broken.details.missing
    assert (second.standing.state, second.details.missing) == ("new", ())
    assert faults_of(pages(found)) == []


def test_no_timeline_is_read_for_each_page_anew(facts: Facts, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two hundred pipelines the same source would be listed two hundred times."""
    looks: list[str] = []
    real = TimelineState.table

    def counting(self: TimelineState, ref: TableRef) -> Any:
        looks.append(ref.path)
        return real(self, ref)

    monkeypatch.setattr(TimelineState, "table", counting)
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    for number in range(3):
        a_project(root, f"more{number}", source="events")
    assert len(facts().pipelines) == 4
    source = str(root / "data/raw/events")
    # Once for all, and twice for each whose next run's files are sought, as status and plan do.
    assert looks.count(source) <= 1 + 2 * 4


def test_details_of_those_that_are_asked_for(facts: Facts, root: Path) -> None:
    a_project(root, "second")
    found = {p.name: p for p in facts(details={"second"}).pipelines}
    assert found["second"].details.columns
    assert not found["payments"].details.columns
    assert faults_of(pages(facts(details=()))) == []


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        ("", "when it is called"),
        ('schedule: "0 6 * * *"\n', "0 6 * * *, UTC"),
        ('schedule: "0 6 * * *"\nschedule_zone: Europe/Berlin\n', "0 6 * * *, Europe/Berlin"),
        ("continuous: {min_interval: 2m}\n", "again and again, at least 2 min from begin to begin"),
    ],
)
def test_when_it_is_due(facts: Facts, root: Path, top: str, expected: str) -> None:
    file = root / "pipelines/payments.yml"
    file.write_text(top + file.read_text())
    assert one(facts).due == expected
    downstream(root)
    assert one(facts, "refunds").due == "after what it reads"
