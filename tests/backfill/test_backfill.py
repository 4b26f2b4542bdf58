"""A range of dates computed again beside the live writer: chunks, resumption, conflicts, an untouched checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from freshet.backfill.read import read_range
from freshet.errors import DataError, StateError
from freshet.events.event import Event
from freshet.hudi.checkpoint import RUN_ID_KEY
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import TableRef
from freshet.run.history import read_history
from freshet.run.service import run_services
from freshet.sources.hudi.reads import ReadRange
from freshet.status.logic_report import report_logic
from tests.kit.backfills import BY_DAY, DAYS, OCC, TENFOLD, amounts, at_phase, backfill, chunks, cluster, planned
from tests.kit.frames import frame
from tests.kit.lake import RECORD_INDEX, Lake, rows


@pytest.fixture
def days(lake: Lake) -> Lake:
    """Return a lake of three days with two rows each, and a pipeline over it that has run once."""
    lake.land([row for day in DAYS for row in rows((f"a{day[-1]}", 1, "1.00"), (f"b{day[-1]}", 1, "2.00"), day=day)])
    lake.pipeline(top=BY_DAY % "upsert", hoodie=OCC)
    lake.run_ok()
    return lake


def older(lake: Lake) -> tuple[bool, tuple[str, ...]]:
    """Return whether the logic has changed since the last commit, and which days hold rows of an older one."""
    report = report_logic(lake.spec(), TimelineState())
    assert report is not None
    return report.changed, report.older


def test_each_chunk_is_a_commit_that_says_so_and_the_checkpoint_stays(days: Lake) -> None:
    before = days.position()
    assert older(days) == (False, ())
    days.pipeline(sql=TENFOLD, top=BY_DAY % "upsert", hoodie=OCC)
    assert older(days) == (True, DAYS)
    assert backfill(days, DAYS[0], DAYS[1]).rows == 2
    assert older(days) == (False, DAYS[1:])
    result = backfill(days)
    assert (result.error, result.done, result.rows, len(result.commits)) == (None, 3, 6, 3)
    assert older(days) == (False, ())
    assert list(amounts(days).values()) == [10, 10, 10, 20, 20, 20]
    assert days.position() == before
    assert chunks(days) == [(day, "done") for day in (DAYS[0], *DAYS)]
    told = [event.fields for event in days.events if event.name == "chunk"]
    assert [(f["number"], f["of"], f["rows"]) for f in told[1:]] == [(1, 3, 2), (2, 3, 4), (3, 3, 6)]
    target = days.state()
    begun = [event.run_id for event in days.events if event.fields.get("what") == "chunk"]
    assert begun == [target.info(i).extra[RUN_ID_KEY] for i in target.commits[-4:]]
    stages = [(event.fields["rows"], event.fields["lazy"]) for event in days.events if event.name == "stage_finished"]
    assert stages[-3:] == [(None, False), (None, True), (2, False)]

    commits = days.state().commits
    again = backfill(days)
    assert (again.done, again.skipped, again.commits) == (3, 3, ())
    assert days.state().commits == commits
    assert days.run_ok().outcome == "idle"
    idle, skipped, done, first, run = read_history(days.spec(), TimelineState(), 9)[0]
    assert [(one.what, one.outcome) for one in (idle, skipped, done, first, run)] == [
        ("run", "idle"),
        ("backfill", "idle"),
        ("backfill", "done"),
        ("backfill", "done"),
        ("run", "committed"),
    ]
    assert [set(done.commits), {*first.commits, *run.commits}] == [set(result.commits), {i.completed for i in commits[:2]}]
    assert set(run.seconds) == {"session", "transform", "write", "total"}
    assert (run.rows["inserts"], done.rows["written"], done.more["chunks"]) == (6, 6, 3)


def test_one_that_is_stopped_between_chunks_is_gone_on_with(days: Lake) -> None:
    days.pipeline(sql=TENFOLD, top=BY_DAY % "upsert", hoodie=OCC)
    asked: list[str] = []
    result = backfill(days, may_go_on=lambda chunk: asked.append(chunk.label) or len(asked) < 2)  # type: ignore[func-returns-value]
    assert asked == ["2026-01-05 to 2026-01-06", "2026-01-06 to 2026-01-07"]
    assert (result.error, result.chunks, result.done, len(result.commits)) == (None, 3, 1, 1)
    assert chunks(days) == [(DAYS[0], "done")]
    assert read_history(days.spec(), TimelineState(), 1)[0][0].outcome == "done"
    rest = backfill(days)
    assert (rest.done, rest.skipped, len(rest.commits)) == (3, 1, 2)


def test_a_chunk_whose_data_is_bad_is_recorded_and_the_others_are_done(days: Lake) -> None:
    too_much = "CASE WHEN day = '2026-01-06' THEN 9000000000 ELSE 10 END"
    days.pipeline(sql=f"SELECT id, ts, amount * {too_much} AS amount, day FROM <SRC>", top=BY_DAY % "upsert", hoodie=OCC)
    failed = {"2026-01-06 to 2026-01-07": "OVERFLOW"}
    result = backfill(days)
    assert (result.error, result.done, result.failed) == (None, 2, failed)
    assert chunks(days) == [(DAYS[0], "done"), (DAYS[1], "failed"), (DAYS[2], "done")]
    assert amounts(days) == {"a5": 10, "b5": 20, "a6": 1, "b6": 2, "a7": 10, "b7": 20}

    kept = backfill(days)
    assert (kept.skipped, kept.done, kept.failed, kept.commits) == (3, 2, failed, ())

    days.pipeline(sql=TENFOLD, top=BY_DAY % "upsert", hoodie=OCC)
    for reprocess in ("none", "failed"):
        with pytest.raises(StateError) as raised:
            backfill(days, reprocess=reprocess)
        assert raised.value.code == "BACKFILL_FINGERPRINT_CHANGED"
    assert len(chunks(days)) == 3
    mended = backfill(days, reprocess="failed", accept_changes=True)
    assert (mended.done, mended.skipped, mended.failed, len(mended.commits)) == (3, 2, {}, 1)
    assert amounts(days) == {"a5": 10, "b5": 20, "a6": 10, "b6": 20, "a7": 10, "b7": 20}

    everything = backfill(days, reprocess="all")
    assert (everything.done, everything.skipped, len(everything.commits)) == (3, 0, 3)
    assert chunks(days)[-3:] == [(day, "done") for day in DAYS]
    assert backfill(days).skipped == 3
    assert days.run_ok().outcome == "idle"


def test_start_and_end_reach_the_sql_and_an_input_is_cut_too(days: Lake) -> None:
    days.land([(day, 1, Decimal(1), day) for day in DAYS for _ in "x"], table="raw.rates")
    days.pipeline(
        sql="SELECT id, ts, cast({% if start is defined %}datediff('{{ end }}', '{{ start }}') * 100 + {% endif %}"
        "(SELECT count(*) FROM rates) AS decimal(10,2)) AS amount, day FROM <SRC>",
        top="inputs:\n  rates: {table: raw.rates, read: snapshot}\n"
        "backfill: {event_time: day, partition: day, inputs: {rates: day}}\n",
        hoodie=OCC,
    )
    assert backfill(days, end="2026-01-07").rows == 4
    assert amounts(days) == {"a5": 101, "b5": 101, "a6": 101, "b6": 101, "a7": 1, "b7": 2}
    assert backfill(days, chunk="3d").rows == 6
    assert set(amounts(days).values()) == {303}
    days.land(rows(("c7", 2, "1.00"), day=DAYS[2]))
    days.run_ok()
    assert amounts(days)["c7"] == 3


def test_a_source_and_an_input_with_a_commit_that_has_not_completed(days: Lake) -> None:
    """Kind: a chunk beside a writer of what it reads, which began before another commit completed; and one that was overtaken.

    Hudi refuses to travel to a time after the request of a pending commit.
    """
    days.land(rows(("c", 1, "1")), table="raw.cities")
    days.pipeline(
        sql=f"{TENFOLD} WHERE EXISTS (SELECT 1 FROM cities)",
        hoodie=OCC,
        top=BY_DAY % "upsert" + "inputs: {cities: {table: raw.cities, read: snapshot}}\n",
    )
    days.land(rows(("a5", 2, "3.00"), ("c5", 1, "4.00"), day=DAYS[0]))
    days.land(rows(("c", 2, "1")), table="raw.cities")
    for table in ("raw/events", "raw/cities"):
        last = days.state(table.replace("/", ".")).commits[-1]
        for name in ("commit.requested", "inflight"):
            (days.root / table / f".hoodie/timeline/{int(last.requested) - 1}.{name}").touch()
    result = backfill(days, end=DAYS[1])
    assert (result.error, result.done) == (None, 1)
    assert amounts(days) == {"a5": 30, "b5": 20, "c5": 40, "a6": 1, "b6": 2, "a7": 1, "b7": 2}


TIMES = (
    ("2026-01-05 00:00:00", "2026-01-05", "2026-01-05T00:00:00", "2026-01-05"),
    ("2026-01-05 05:59:59", "2026-01-05", "2026-01-05T05:59:59", "2026-01-05-05"),
    ("2026-01-05 06:00:00", "2026-01-05", "2026-01-05 06:00:00", "2026-01-05-06"),
    ("2026-01-05 23:59:59", "2026-01-05", "2026-01-05T23:59:59", "2026-01-05-23"),
    ("2026-01-06 00:00:00", "2026-01-06", "2026-01-06T00:00:00", "2026-01-06-00"),
    (None, None, None, None),
)


def test_an_event_time_is_a_timestamp_a_date_or_text(lake: Lake) -> None:
    landed = [(str(n), 1, "x", *times) for n, times in enumerate(TIMES)]
    landing = frame(lake.spark, landed, "id string, ts bigint, day string, t string, d string, s string, h string")
    landing = landing.selectExpr("id", "ts", "day", "cast(t AS timestamp) AS t", "cast(d AS date) AS d", "s", "h")
    landing.write.format("hudi").options(
        **{
            "hoodie.table.name": "times",
            "hoodie.datasource.write.recordkey.field": "id",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.partitionpath.field": "day",
            "hoodie.embed.timeline.server": "false",
        }
    ).save(lake.path("raw.times"))

    def read(column: str, start: str, end: str) -> list[str]:
        stage = ReadRange(
            view="SRC",
            table=TableRef("raw.times", lake.path("raw.times")),
            as_of=lake.state("raw.times").commits[-1].completed,
            column=column,
            start=start,
            end=end,
        )
        return sorted(row.id for row in read_range(lake.spark, stage).select("id").collect())

    whole = ("2026-01-05T00:00:00", "2026-01-06T00:00:00")
    assert [read(column, *whole) for column in ("t", "T", "d", "s", "h")] == [["0", "1", "2", "3"]] * 5
    first, then = ("2026-01-05T00:00:00", "2026-01-05T06:00:00"), ("2026-01-05T06:00:00", "2026-01-06T00:00:00")
    for column in ("t", "s", "h"):
        assert (read(column, *first), read(column, *then)) == (["0", "1"], ["2", "3"]), column
    assert read("s", "2026-01-05T05:59:59", "2026-01-05T06:00:00") == ["1"]
    for column, window in (("d", first), ("ts", whole), ("nothing", whole)):
        with pytest.raises(DataError) as raised:
            read(column, *window)
        assert raised.value.code == "BAD_EVENT_TIME"


def test_the_checkpoint_is_found_behind_many_chunks_and_in_the_archive(days: Lake) -> None:
    small = {
        **OCC,
        "hoodie.keep.min.commits": 2,
        "hoodie.keep.max.commits": 3,
        "hoodie.clean.commits.retained": 1,
        "hoodie.metadata.compact.max.delta.commits": 1,
    }
    days.pipeline(sql=TENFOLD, top=BY_DAY % "upsert", hoodie=small)
    before, first = days.position(), days.state().commits[0]
    for reprocess in ("none", "all"):
        assert backfill(days, reprocess=reprocess).error is None
    # A backfill leaves cleaning and archiving to the runs and the service.
    run_services(days.spec(), TimelineState(), ("clean", "archive"), days.events.append)
    assert first not in days.state().commits, "it was to be archived"
    assert days.position() == before
    assert days.run_ok().outcome == "idle"
    assert backfill(days).skipped == 3, "chunks are found in the archive too"
    days.land(rows(("a5", 2, "7.00"), ("c5", 2, "3.00"), day=DAYS[0]))
    assert days.run_ok().outcome == "committed"
    assert days.position() > before
    assert amounts(days) == {"a5": 70, "b5": 20, "c5": 30, "a6": 10, "b6": 20, "a7": 10, "b7": 20}


def test_a_partition_is_replaced_whole_and_an_empty_day_is_emptied(days: Lake) -> None:
    days.pipeline(
        sql="SELECT id, ts, amount, day FROM <SRC> WHERE id LIKE 'a%' AND day <> '2026-01-06'",
        top=BY_DAY % "insert_overwrite",
        hoodie=OCC,
    )
    result = backfill(days)
    assert result.error is None
    assert list(amounts(days)) == ["a5", "a7"]
    days.land(rows(("a6", 2, "3.00"), day="2026-01-06"))
    days.pipeline(top=BY_DAY % "insert_overwrite", hoodie=OCC)
    days.run_ok()
    assert list(amounts(days)) == ["a5", "a6", "a7"]


MONTHS = ("2026-01-30", "2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01")


@pytest.mark.parametrize(
    ("granularity", "value", "table_type", "start"),
    [
        ("day", "day", "cow", "2026-01-31"),
        pytest.param("hour", "concat(day, '-13')", "mor", "2026-01-31T00:00", marks=pytest.mark.nightly),
        pytest.param("month", "substr(day, 1, 7)", "cow", "2026-02-01", marks=pytest.mark.nightly),
    ],
)
def test_a_month_of_partitions_is_replaced_by_one_commit_and_no_other_partition(
    lake: Lake,
    granularity: str,
    value: str,
    table_type: str,
    start: str,
) -> None:
    """Months that the range cuts, partitions that get no row or never were, and rows of no partition of their chunk."""
    by = f"backfill: {{event_time: day, partition: day, granularity: {granularity}, write: insert_overwrite}}\n"
    lake.land([row for day in MONTHS for row in rows((f"a{day}", 1, "1.00"), (f"b{day}", 1, "2.00"), day=day)])

    def written(sql: str) -> None:
        lake.pipeline(sql=sql.replace("{day}", value), top=by, hoodie=OCC, table_type=table_type)

    written("SELECT id, ts, amount, {day} AS day FROM <SRC>")
    lake.run_ok()
    written(
        "SELECT id, ts, cast(amount * 10 AS decimal(10,2)) AS amount, {day} AS day FROM <SRC> "
        "WHERE day <> '2026-02-28' AND id LIKE 'a%'"
    )
    result = backfill(lake, start, "2026-03-01", chunk="1mo")
    assert (result.error, result.done) == (None, 2 if start < "2026-02" else 1)
    left = [day for day in MONTHS[:4] if day < start[:10]] + [MONTHS[4]]
    tenfold = {f"a{day}": 10 for day in MONTHS[:3] if day not in left}
    assert amounts(lake) == {**tenfold, **{f"{key}{day}": n for day in left for key, n in (("a", 1), ("b", 2))}}

    lake.land(rows(("b2026-02-28", 2, "3.00"), day="2026-02-28"))
    written("SELECT id, ts, amount, {day} AS day FROM <SRC>")
    lake.run_ok()
    assert amounts(lake)["b2026-02-28"] == 3
    written("SELECT id, ts, amount, replace({day}, '2026-02', '2026-03') AS day FROM <SRC>")
    before = lake.files()
    outside = backfill(lake, "2026-02-01", "2026-03-01", chunk="1mo", reprocess="all")
    assert outside.failed == {"2026-02-01 to 2026-03-01": "OUTSIDE_CHUNK"}
    assert lake.files() == before


def test_a_replaced_partition_that_the_incremental_writer_changed_is_done_again(days: Lake) -> None:
    days.pipeline(sql=TENFOLD, top=BY_DAY % "insert_overwrite", hoodie=OCC)

    def meanwhile(key: str) -> Callable[[], None]:
        def run() -> None:
            days.land(rows((key, 2, "5.00"), day=DAYS[1]))
            days.run_ok()

        return run

    # Seen before the write, so that nothing is overwritten.
    early = at_phase("reading 2026-01-06", meanwhile("early"), days)
    result = backfill(days, listen=early)
    assert (result.error, result.done, result.conflicts) == (None, 3, 1)
    everything = {"a5": 10, "b5": 20, "a6": 10, "b6": 20, "early": 50, "a7": 10, "b7": 20}
    assert amounts(days) == everything

    # Too late to be seen before: the commit is overwritten, and the chunk is not done.
    def late(key: str) -> Callable[[Event], None]:
        return at_phase("writing", meanwhile(key), days)

    stopped = backfill(days, DAYS[1], DAYS[2], listen=late("late"), max_conflicts=0)
    assert stopped.error is not None
    assert (stopped.error.code, stopped.error.retryable, stopped.done) == ("PARTITION_CHANGED", True, 0)
    assert "late" not in amounts(days)
    (chunk,) = planned(days, DAYS[1], DAYS[2]).chunks
    assert (chunk.status, chunk.wanted) == ("overwritten", True)
    resumed = backfill(days, DAYS[1], DAYS[2])
    assert (resumed.error, resumed.done, resumed.conflicts) == (None, 1, 0)
    assert amounts(days) == {**everything, "late": 50}

    repeated = backfill(days, DAYS[1], DAYS[2], reprocess="all", listen=late("again"))
    assert (repeated.error, repeated.done, repeated.conflicts) == (None, 1, 1)
    assert amounts(days) == {**everything, "late": 50, "again": 50}
    assert days.run_ok().outcome == "idle"


@pytest.mark.parametrize("strategy", ["merge", "partial_update"])
def test_a_backfill_computes_the_owned_columns_again_and_no_other(lake: Lake, strategy: str) -> None:
    ddl = {"columns": ", at BIGINT, note STRING, noted_at BIGINT", "hoodie": OCC}
    owned = f"write: {{strategy: {strategy}, columns: [amount, at], ordering: at}}\n{BY_DAY % 'upsert'}"

    def times(factor: str) -> None:
        lake.pipeline(sql=f"SELECT id, ts, {factor} AS amount, ts AS at, day FROM <SRC>", top=owned, **ddl)

    times("amount")
    lake.pipeline(
        "notes",
        "SELECT id, ts, note, ts AS noted_at, day FROM <SRC>",
        source="raw.notes",
        top="write: {strategy: merge, columns: [note, noted_at], ordering: noted_at}\n",
        **ddl,
    )
    file = lake.project_root / "ddl/notes.sql"
    file.write_text(file.read_text().replace("derived.notes", "derived.copy"))
    lake.land([row for day in DAYS for row in rows((f"a{day[-1]}", 1, "1.00"), (f"b{day[-1]}", 1, "2.00"), day=day)])
    lake.land(
        [(f"{key}{day[-1]}", 9, f"{key}'s", day) for day in DAYS for key in "ac"],
        table="raw.notes",
        schema="id string, ts bigint, note string, day string",
    )
    for name in ("copy", "notes"):
        lake.run_ok(name)
    before = lake.position()
    times("cast(amount * 10 AS decimal(10,2))")
    result = backfill(lake)
    assert (result.error, result.done, result.rows) == (None, 3, 6)
    wanted = sorted(
        row
        for day in DAYS
        for row in ((f"a{day[-1]}", 10, "a's", 9), (f"b{day[-1]}", 20, None, None), (f"c{day[-1]}", None, "c's", 9))
    )
    assert lake.rows("derived.copy", "id", "amount", "note", "noted_at") == wanted
    assert lake.position() == before
    assert [lake.run_ok(name).outcome for name in ("copy", "notes")] == ["idle", "idle"]
    # The other owner goes on too, behind the chunks' commits.
    lake.land([("b5", 10, "late", DAYS[0])], table="raw.notes", schema="id string, ts bigint, note string, day string")
    lake.run_ok("notes")
    assert lake.rows("derived.copy", "id", "amount", "note")[3] == ("b5", 20, "late")


@pytest.mark.nightly
def test_a_month_of_partitions_while_the_table_is_clustered(lake: Lake) -> None:
    first, length = datetime(2026, 1, 1), 31
    month = [f"{first + timedelta(days=n):%Y-%m-%d}" for n in range(length)]
    lake.land([row for day in month for row in rows((f"a{day}", 1, "1.00"), (f"b{day}", 1, "2.00"), day=day)])
    lake.pipeline(top=BY_DAY % "upsert", hoodie={**OCC, **RECORD_INDEX})
    lake.run_ok()
    before = lake.position()
    lake.pipeline(sql=TENFOLD, top=BY_DAY % "upsert", hoodie={**OCC, **RECORD_INDEX})
    some = ",".join(month[2::6])
    ended = threading.Event()
    tried: list[str] = []

    def repeatedly() -> None:
        while not ended.is_set():
            try:
                cluster(lake, "scheduleAndExecute", some)
                tried.append("")
            except Exception as error:  # a chunk was faster, or it had nothing to do
                tried.append(str(error)[:300])
            ended.wait(1)

    beside = threading.Thread(target=repeatedly)

    def listen(event: Event) -> None:
        if event.name == "chunk" and event.fields["number"] == 1:
            # Once between two chunks, and from now on at the same time.
            cluster(lake, "scheduleAndExecute", some)
            beside.start()

    try:
        result = backfill(lake, month[0], "2026-02-01", chunk="1w", listen=listen)
    finally:
        ended.set()
        beside.join()
    assert (result.error, result.done, result.rows) == (None, 5, 62), tried
    assert tried
    services = {i.completed for i in lake.state().commits if i.action == "replacecommit"}
    assert any(result.commits[0] < moment < result.commits[1] for moment in services)
    assert amounts(lake) == {f"{key}{day}": amount for day in month for key, amount in (("a", 10), ("b", 20))}
    assert (lake.position(), lake.run_ok().outcome) == (before, "idle")
