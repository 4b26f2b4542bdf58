"""``import freshet``: each call of the API gives the object whose JSON the command of its name prints, or raises its error.

The kind: a second way beside the command's, which would plan, run, refuse or redact otherwise; a failure that a scheduler does
not notice; what a process that goes on (a notebook) would trip over, unlike a command that ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from _thread import interrupt_main
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest

import freshet as api
from freshet.api.aside import run_aside
from freshet.events.event import Event
from freshet.events.kinds import Notice
from freshet.hudi.checkpoint import CHECKS_KEY, PIPELINE_KEY
from freshet.jvm.unfit import what_is_unfit
from freshet.run.result import RunResult
from tests.kit.project import a_project
from tests.kit.timeline import a_table, a_target, commit
from tests.unit.cli.conftest import Freshet, parsed

OCC = "  hoodie.write.concurrency.mode: OPTIMISTIC_CONCURRENCY_CONTROL\n"
SECRET = "hunter2-and-more"


def as_printed(found: Any) -> Any:
    """Return what an object is as JSON, as the command prints it."""
    return json.loads(json.dumps(found, default=str))


def python(code: str) -> list[str]:
    """Run code in a process of its own; returns the names that it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        text=True,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    names: list[str] = json.loads(done.stdout)
    return names


def edit(root: Path, text: str, name: str = "payments", file: str = "pipelines/{}.yml") -> None:
    path = root / file.format(name)
    path.write_text(text + path.read_text())


def downstream(root: Path) -> None:
    a_project(
        root,
        "totals",
        files={
            "pipelines/totals.yml": (root / "pipelines/payments.yml")
            .read_text()
            .replace("payments", "totals")
            .replace("raw_root }}/events", "derived_root }}/payments")
        },
    )


def test_the_import_costs_nothing() -> None:
    """Counted, not timed: the package itself and nothing else, neither its own modules nor anybody's library."""
    shown = "before = set(sys.modules); import freshet; print(json.dumps(sorted(set(sys.modules) - before)))"
    assert python(f"import json, sys, typing, __future__; {shown}") == ["freshet"]


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    used = "freshet.Project.load; freshet.FreshetError"
    loaded = python(f"import json, sys, freshet; {used}; print(json.dumps(list(sys.modules)))")
    assert not {name.partition(".")[0] for name in loaded} & {
        "pyspark",
        "py4j",
        "sqlglot",
        "pandas",
        "click",
        "rich",
        "great_expectations",
    }


def test_what_is_promised_is_there() -> None:
    assert set(api.__all__) <= set(dir(api))
    for name in api.__all__:
        assert getattr(api, name) is not None, name
    with pytest.raises(AttributeError):
        getattr(api, "Projekt")  # noqa: B009 - mypy knows that there is none
    assert (Path(api.__file__).parent / "py.typed").is_file()


def test_a_project_says_what_it_has(freshet: Freshet, root: Path) -> None:
    downstream(root)
    edit(root, "tags: [money]\nowner: finance\nschedule: '0 * * * *'\n")
    project = api.Project.load(root)
    printed = parsed(freshet("validate", "--output", "json"))["pipelines"]
    assert as_printed([one.as_json() for one in project.pipelines]) == [
        {key: value for key, value in one.items() if key != "verdict"} for one in printed
    ]
    first, second = project.pipelines
    assert (first.name, first.tags, first.owner, first.schedule, second.upstream) == (
        "payments",
        ("money",),
        "finance",
        "0 * * * *",
        ("payments",),
    )
    assert [one.name for one in api.Project.load(str(root), tags=["money"]).pipelines] == ["payments"]
    assert repr(project).startswith("Project(")


def test_the_environment_is_the_commands(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "configs/prod.yml").write_text("vars: {}\n")
    assert api.Project.load(root).env == "base"
    monkeypatch.setenv("FRESHET_ENV", "prod")
    assert api.Project.load(root).env == "prod"
    assert api.Project.load(root, env="base").env == "base"
    monkeypatch.delenv("FRESHET_ENV")
    project = api.Project.load(root, overrides=["vars.raw_root=/elsewhere"])
    assert project.pipelines[0].source == "/elsewhere/events"


def test_a_project_is_found_again_from_elsewhere(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    project = api.Project.load()
    monkeypatch.chdir(tmp_path)
    assert project.status()[0].state == "SOURCE_MISSING"


def test_wrong_files_are_named(root: Path) -> None:
    a_project(root, "refunds", files={"pipelines/refunds.yml": "nonsense: 1\n"})
    with pytest.raises(api.SpecError, match="UNKNOWN_KEY") as caught:
        api.Project.load(root)
    assert {p.file for p in caught.value.problems} == {"pipelines/refunds.yml"}
    # As for the command, what is wrong with another pipeline does not count.
    a_table(root, "raw/events", 10)
    assert api.Project.load(root, names=["payments"]).plan("payments").plan is not None
    with pytest.raises(api.SpecError, match="UNKNOWN_PIPELINE"):
        api.Project.load(root, names=["payments"]).run("payment")


def test_plans_are_the_commands(freshet: Freshet, root: Path) -> None:
    downstream(root)
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    project = api.Project.load(root)
    plan, behind = project.plan("payments"), project.plan("totals")
    printed = parsed(freshet("plan", "--output", "json"))["plans"]
    assert [as_printed(one.as_json()) for one in (plan, behind)] == printed
    assert plan.plan is not None
    assert str(plan).startswith("payments\n  target ")
    assert freshet("plan", "payments").stdout.partition("checkpoint")[0] == str(plan).partition("checkpoint")[0]


def test_a_plan_behind_a_first_run(freshet: Freshet, root: Path) -> None:
    downstream(root)
    a_table(root, "raw/events", 10)
    found = api.Project.load(root).plan("totals")
    assert (found.waits_for, found.plan, str(found)) == (("payments",), None, "totals\n  waits for the first run of payments")
    assert as_printed(found.as_json()) == parsed(freshet("plan", "totals", "--output", "json"))["plans"][0]


@pytest.mark.parametrize("call", ["plan", "run"])
def test_what_the_command_refuses_is_raised(freshet: Freshet, root: Path, call: str) -> None:
    printed = parsed(freshet(call, "payments", "--output", "json"))[f"{call}s"][0]["error"]
    with pytest.raises(api.StateError) as caught:
        getattr(api.Project.load(root), call)("payments")
    assert (as_printed(caught.value.as_json()), caught.value.code) == (printed, "SOURCE_MISSING")
    assert isinstance(caught.value, api.FreshetError)


def test_an_idle_run_is_the_commands(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    events: list[Event] = []
    project = api.Project.load(root)
    results = (project.run("payments", on_event=events.append), project.run("payments", drain=True), *project.run_all())
    (printed,) = parsed(freshet("run", "--all", "--output", "json"))["runs"]
    for result in results:
        assert {**as_printed(result.as_json()), "seconds": None} == {**printed, "seconds": None}
    assert [one.name for one in events] == ["run_started", "window_planned", "lag_observed", "idle"]
    assert {one.pipeline for one in events} == {"payments"}
    assert len({one.run_id for one in events}) == 1


def test_several_runs_of_which_some_fail(freshet: Freshet, root: Path) -> None:
    """All of them end first; a scheduler that looks at nothing else sees the task fail."""
    downstream(root)
    names = ["payments", "totals"]
    with pytest.raises(api.RunsFailed, match="payments: SOURCE_MISSING") as caught:
        api.Project.load(root, names=names).run_all()
    printed = parsed(freshet("run", *names, "--output", "json"))["runs"]
    assert [(r.pipeline, r.outcome) for r in caught.value.results] == [(p["pipeline"], p["outcome"]) for p in printed]
    assert (caught.value.code, caught.value.exit_code, caught.value.retryable) == ("RUNS_FAILED", api.Exit.STATE, False)


def test_the_status_is_the_commands(freshet: Freshet, root: Path) -> None:
    downstream(root)
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    found = api.Project.load(root).status()
    assert [(one.pipeline, one.state) for one in found] == [("payments", "behind"), ("totals", "new")]
    assert as_printed([one.as_json() for one in found]) == parsed(freshet("status", "--output", "json"))["pipelines"]


def test_accounts_are_the_commands(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10, 20)
    a_target(root, (15, 10))
    (found,) = api.Project.load(root).account()
    assert as_printed(found.as_json()) == parsed(freshet("account", "--output", "json"))["accounts"][0]
    assert [one.fate for one in found.edges[0].fed] == ["before", "waiting"]
    with pytest.raises(api.FreshetError, match="no time"):
        api.Project.load(root).account(since="soon")


def test_checks_are_the_commands(freshet: Freshet, root: Path) -> None:
    a_table(root, "raw/events", 10)
    target = a_target(root, (15, 10))
    checks = {"c": {"severity": "warn", "status": "passed", "rows": 0, "seen": "0"}}
    for moment in (20, 30):
        target.done(moment, commit({CHECKS_KEY: json.dumps({"checks": checks}), PIPELINE_KEY: "payments"}))
    project = api.Project.load(root)
    assert as_printed(project.checks("payments").as_json()) == parsed(freshet("checks", "payments", "--output", "json"))
    assert len(project.checks("payments", limit=1).history) == 1


WHOLE = (date(2026, 1, 5), date(2026, 1, 7))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        WHOLE,
        ("2026-01-05", "2026-01-07"),
        ("2026-01-05T00:00", datetime(2026, 1, 7)),
        (datetime(2026, 1, 5, tzinfo=timezone.utc), datetime(2026, 1, 7, 2, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_a_backfill_is_the_commands(freshet: Freshet, root: Path, start: Any, end: Any) -> None:
    edit(root, "backfill: {event_time: updated_at}\n")
    path = root / "pipelines/payments.yml"
    path.write_text(path.read_text().replace("hoodie:\n", f"hoodie:\n{OCC}", 1))
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    found = api.Project.load(root).plan_backfill("payments", start, end)
    words = ("backfill", "payments", "--start", "2026-01-05", "--end", "2026-01-07", "--dry-run", "--output", "json")
    assert as_printed(found.as_json()) == parsed(freshet(*words))


def test_a_backfill_that_cannot_begin(root: Path) -> None:
    with pytest.raises(api.FreshetError, match="BACKFILL_NOT_DECLARED"):
        api.Project.load(root).backfill("payments", *WHOLE)


def test_a_backfill_with_chunks_that_failed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the command ends with 1. One that ended early raises its own error."""
    found = api.BackfillResult(pipeline="payments", backfill="x", chunks=2, done=1, failed={"2026-01-06": "OVERFLOW"})
    monkeypatch.setattr("freshet.api.backfills.run_backfill", lambda *_: found)
    with pytest.raises(api.ChunksFailed, match="2026-01-06: OVERFLOW") as caught:
        api.Project.load(root).backfill("payments", *WHOLE)
    assert (caught.value.result, caught.value.exit_code) == (found, api.Exit.FAILED)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.backfill("payments", "yesterday", "2026-01-07"),
        lambda p: p.backfill("payments", *WHOLE, reprocess="some"),
        lambda p: p.backfill("payments", *WHOLE, max_conflicts=-1),
        lambda p: p.run_all(parallel=0),
        lambda p: p.checks("payments", limit=0),
        lambda p: p.plan_backfill("payments", 20260105, "2026-01-07"),
    ],
)
def test_wrong_arguments_are_refused(root: Path, call: Any) -> None:
    """What click refuses of a command line."""
    with pytest.raises(api.FreshetError, match=r"^(BAD_RANGE|USAGE): ") as caught:
        call(api.Project.load(root))
    assert "Nothing was read or written" in str(caught.value)


def test_a_file_that_was_edited_counts_from_the_next_call(root: Path) -> None:
    project = api.Project.load(root)
    a_table(root, "raw/events", 10)
    before = project.plan("payments").plan
    (root / "transformers/payments.sql").write_text("SELECT id, amount + 1 AS amount, updated_at FROM <SRC>\n")
    after = project.plan("payments").plan
    assert before is not None
    assert after is not None
    assert before.fingerprint != after.fingerprint


def test_a_listener_that_fails_harms_no_run(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    a_table(root, "raw/events", 10)
    a_target(root, (15, 10))
    assert api.Project.load(root).run("payments", on_event=lambda event: 1 / 0).outcome == "idle"  # type: ignore[func-returns-value, arg-type, return-value]
    assert caplog.text.count("on_event failed") == 4, "it hears what follows: it may wait for one kind of event alone"


def test_secrets_stay_out(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Of what a notebook shows and keeps in its file: JSON, repr and text of objects, errors with their causes, events."""
    monkeypatch.setenv("PAYMENTS_PASSWORD", SECRET)
    path, password = root / "pipelines/payments.yml", '  hoodie.datasource.hive_sync.password: "{{ env.PAYMENTS_PASSWORD }}"\n'
    path.write_text(path.read_text().replace("hoodie:\n", f"hoodie:\n{password}", 1))
    a_table(root, "raw/events", 10, 20)
    project = api.Project.load(root)
    plan = project.plan("payments")
    shown = [repr(project), repr(project.pipelines), repr(plan), str(plan), json.dumps(plan.as_json())]

    def broken(*arguments: Any) -> Any:
        arguments[2](Notice(pipeline="payments", message=f"said {SECRET}", code="X", error={"x": [SECRET]}))
        try:
            raise ValueError(f"the server knows {SECRET}")
        except ValueError as cause:
            error = api.DataError("SQL_ERROR", f"no {SECRET}", SECRET, SECRET, given=SECRET)
            error.__cause__ = cause
            return (RunResult(pipeline="payments", outcome="failed", error=error, reason=SECRET, checks=({"seen": SECRET},)),)

    events: list[Event] = []
    monkeypatch.setattr("freshet.api.project.run_project", broken)
    for debug in ("0", "1"):
        monkeypatch.setenv("FRESHET_DEBUG", debug)
        with pytest.raises(api.DataError) as caught:
            project.run("payments", on_event=events.append)
        error = caught.value
        # Python 3.10 has no notes: the trace is printed.
        notes = getattr(error, "__notes__", []) if sys.version_info >= (3, 11) else [capsys.readouterr().err]
        shown += [str(error), repr(error), json.dumps(error.as_json()), *notes, *map(repr, events)]
        assert error.__cause__ is None
        assert error.__suppress_context__
        assert any("the server knows" in note for note in notes) is (debug == "1")
    with pytest.raises(api.RunsFailed) as several:
        project.run_all()
    shown += [str(several.value), *map(repr, several.value.results), json.dumps([r.as_json() for r in several.value.results])]
    assert [text for text in shown if SECRET in text] == []
    assert "PAYMENTS_PASSWORD" in json.dumps(plan.as_json())


def test_what_nobody_foresaw_has_a_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("x")

    monkeypatch.setattr("freshet.api.project.run_project", broken)
    with pytest.raises(api.FreshetError, match="UNEXPECTED_ERROR: ValueError: x"):
        api.Project.load(root).run("payments")


def test_the_jvm_of_a_process_that_goes_on_is_no_short_jobs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def noted(project: Any, *_: Any) -> tuple[RunResult, ...]:
        seen.append(project)
        return (RunResult(pipeline="payments", outcome="idle"),)

    monkeypatch.setattr("freshet.api.project.run_project", noted)
    api.Project.load(root).run("payments")
    assert seen[0].goes_on


def test_an_interrupt_cancels_and_waits_for_the_end() -> None:
    """A write that Java goes on with must not lose its lease: the keyboard, or a scheduler's own signal, unwinds afterwards."""
    cancelled, ended = Flag(), []

    def work() -> None:
        interrupt_main()
        assert cancelled.wait(60)
        ended.append("the lease was given back")

    # A shell's background jobs begin with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_aside(work, cancelled.set)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == ["the lease was given back"]


def test_work_aside_gives_and_raises_as_it_would_here() -> None:
    assert run_aside(lambda: 7, lambda: None) == 7
    with pytest.raises(ZeroDivisionError):
        run_aside(lambda: 1 // 0, lambda: None)
    with pytest.raises(SystemExit):
        run_aside(lambda: sys.exit(3), lambda: None)


FIT = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension, org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.hadoop.parquet.avro.write-old-list-structure": "false",
}


@pytest.mark.parametrize(
    ("hudi", "zone", "settings", "own", "lacks"),
    [
        ("1.0.2", "UTC", FIT, {}, []),
        ("1.0.2", "Etc/UTC", FIT, {}, []),
        ("1.0.2", "Europe/Berlin", FIT, {"spark.driver.extraJavaOptions": "-Duser.timezone=Europe/Berlin"}, []),
        ("", "UTC", FIT, {}, ["Hudi's jar"]),
        ("0.15.0", "UTC", FIT, {}, ["0.15.0"]),
        ("1.0.2", "Europe/Berlin", FIT, {}, ["Europe/Berlin"]),
        ("1.0.2", "UTC", {**FIT, "spark.serializer": ""}, {}, ["spark.serializer"]),
        ("", "Europe/London", {}, {}, ["Hudi's jar", "Europe/London", *FIT]),
    ],
)
def test_a_session_of_the_users_own(
    hudi: str,
    zone: str,
    settings: dict[str, str],
    own: dict[str, str],
    lacks: list[str],
) -> None:
    found = what_is_unfit(hudi, zone, settings, own)
    assert len(found) == len(lacks)
    for words, expected in zip(found, lacks, strict=True):
        assert expected in words
