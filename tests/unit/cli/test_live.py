"""How a command shows what goes on: a steady region of a terminal, read from the screen, and lines elsewhere."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from freshet.cli import live
from freshet.cli.board import Board
from freshet.cli.output import Output, message
from freshet.cli.progress import progress
from freshet.cli.rows import table
from freshet.cli.signals import BEFORE_LAST_WORDS, PUBLISHED, UNFINISHED, stopped
from freshet.cli.terminal import wrapped
from freshet.events.kinds import ChunkDone, Committed, Failed, Idle, Notice, Phase, RunStarted, Skipped
from freshet.events.lines import json_lines
from freshet.jvm.spark_counts import Counts, spark_counts
from tests.kit.screen import DECIDING, Terminal

HALF = Counts(doing="", done=12, of=24, rows=340_000, bytes=52_000_000, seconds=30.0)
DONE_LINE = "a: committed 1: 3 inserted"


@pytest.fixture(autouse=True)
def _undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in DECIDING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    PUBLISHED.clear()
    UNFINISHED.clear()


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counts]:
    """Return what Spark seems to have counted; a test changes it."""
    found: dict[str, Counts] = {}
    monkeypatch.setattr(live, "spark_counts", lambda: dict(found))
    return found


Sized = Callable[..., Terminal]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sized]:
    """Return a function that makes this process's stdout and stderr a terminal of a size."""
    opened: list[io.TextIOWrapper] = []

    def sized(columns: int, lines: int = 24, encoding: str = "utf-8") -> Terminal:
        found = Terminal(columns, lines)
        for name in ("stdout", "stderr"):
            opened.append(io.TextIOWrapper(io.FileIO(os.dup(found.slave), "w"), encoding=encoding, line_buffering=True))
            monkeypatch.setattr(sys, name, opened[-1])
        return found

    yield sized
    for stream in opened:
        with suppress(OSError):
            stream.close()


def _has(*words: str, without: tuple[str, ...] = ()) -> Callable[[list[str]], bool]:
    def seen(lines: list[str]) -> bool:
        text = "\n".join(lines)
        return all(one in text for one in words) and not any(one in text for one in without)

    return seen


@pytest.mark.parametrize(("columns", "then"), [(120, (80, 120)), (80, (120, 50)), (50, (33, 80))])
def test_the_region_stays_one_whatever_the_terminals_width(
    terminal: Sized,
    counts: dict[str, Counts],
    columns: int,
    then: tuple[int, ...],
) -> None:
    """Nothing torn: at each width the screen holds the lines above the region, the region once, and nothing else.

    Of the same kind: a screen that is full, so that each drawing scrolls it; more pipelines than lines; a word that is wider
    than the terminal.
    """
    screen = terminal(columns)
    with progress(Output(False)) as listen:
        listen(Notice(pipeline="a", message="STALE_LOCK"))
        listen(Phase(pipeline="a", message="writing derived.a"))
        counts["a"] = HALF
        for width in (columns, *then):
            screen.resize(width)
            head = "  ━━━━━━━━──────── 12 of 24 tasks" if width > 42 else "  12 of 24 tasks"

            def drawn(found: list[str], width: int = width, head: str = head) -> bool:
                return len(found) == 3 and all(len(one) < width for one in found) and found[2].startswith(head)

            assert [one.split()[0] for one in screen.until(drawn)[:2]] == ["a:", "●"]
        counts["a"] = Counts(doing="", done=18, of=24)
        assert "━━━━━━━━━━━━────" in screen.until(_has("18 of 24 tasks"))[2], "it moves"
        listen(Committed(pipeline="a", message="committed 1: 3 inserted", result={}))
    print(DONE_LINE, flush=True)
    assert screen.until(_has(DONE_LINE)) == ["a: STALE_LOCK", DONE_LINE], "one result, once"


def test_what_is_told_of_a_step_is_what_fits(terminal: Sized, counts: dict[str, Counts]) -> None:
    """What is counted has its name, and what matters most comes first."""
    screen = terminal(120)
    counts["a"] = HALF
    with progress() as listen:
        listen(Phase(pipeline="a", message="writing derived.a"))
        told = "12 of 24 tasks, stage ends in about 30 s, 340,000 rows read, 52 MB"
        screen.until(_has(told))
        screen.resize(70)
        narrow = screen.until(_has("12 of 24", without=("340,000",)))
        assert narrow[1].endswith("12 of 24 tasks, stage ends in about 30 s, 52 MB")
        listen(
            Phase(
                pipeline="a",
                message="2026-01-02",
                unit="chunk",
                number=2,
                of=5,
                seconds_left=600,
            )
        )
        screen.until(_has("a: chunk 2 of 5, 2026-01-02", "about 10 min left", without=("stage",)))


def test_several_pipelines(terminal: Sized, counts: dict[str, Counts]) -> None:
    screen = terminal(80, 8)
    with progress(Output(False), total=8) as listen:
        for name in "abcdefgh":
            listen(Phase(pipeline=name, message="reading"))
        counts["b"] = HALF
        screen.until(_has("0 of 8 pipelines are through", "● a: reading", "lines more"))
        assert len(screen.shown()) == 6, "a region that is higher than the terminal could not be drawn over"
        for name in "af":
            listen(Committed(pipeline=name, message="words", result={}))
        listen(Idle(pipeline="e", message="words"))
        listen(Skipped(pipeline="g", message="words"))
        listen(Failed(pipeline="h", message="words", error={"code": "CHECK_FAILED"}))
        lines = screen.until(_has("5 of 8", "12 of 24 tasks", without=("● a",)))
        assert lines[0].startswith("5 of 8 pipelines are through: failed: h (CHECK_FAILED), 2 committed, 1 nothing")
        assert "12 of 24 tasks" in lines[2]


def test_what_machines_are_told_is_not_drawn_and_their_lines_stand_above(terminal: Sized) -> None:
    """``--events -`` where stderr is a terminal, and every kind that says to machines what people see in another way."""
    screen, output = terminal(400), Output(False)
    with json_lines("-") as lines:
        output.listeners["--events"] = lines
        with progress(output) as listen:
            listen(RunStarted(pipeline="a", message="run 1 begins", run_id="1", what="run"))
            listen(Phase(pipeline="a", message="writing derived.a"))
            found = screen.until(_has('"name": "phase"', "● a: writing derived.a"))
    assert [json.loads(line)["name"] for line in found[:2]] == ["run_started", "phase"]
    assert len(found) == 3


def test_what_others_print_stands_above(terminal: Sized, counts: dict[str, Counts]) -> None:
    """A transformer's print, a message, half a line, what has a code: each is whole, and in its order."""
    screen = terminal(80)
    with progress() as listen:
        listen(Phase(pipeline="a", message="reading"))
        listen(Phase(pipeline="a", message="SETTINGS_IGNORED: some"))
        for number in range(40):
            print(f"row {number}")
        sys.stdout.write("half a ")
        message("a message")
        sys.stdout.write("line\n")
        screen.until(_has("half a line", "● a: reading"))
    lines = screen.until(_has("half a line", without=("●",)))
    assert lines == ["a: SETTINGS_IGNORED: some", *(f"row {number}" for number in range(40)), "a message", "half a line"]


def test_words_that_would_move_the_cursor(terminal: Sized, counts: dict[str, Counts]) -> None:
    screen = terminal(80)
    with progress() as listen:
        listen(Phase(pipeline="a", message="reading\x1b[2J\r\nmany\tlines [bold]x[/bold]"))
        assert len(screen.until(_has("reading", "[bold]x[/bold]"))) == 1


def test_colours_only_where_they_are_wanted(
    terminal: Sized,
    counts: dict[str, Counts],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts["a"] = HALF
    for no_color in (False, True):
        if no_color:
            monkeypatch.setenv("NO_COLOR", "1")
        screen = terminal(80)
        with progress() as listen:
            listen(Phase(pipeline="a", message="reading"))
            screen.until(_has("12 of 24"))
        assert (re.search(rb"\x1b\[[0-9;]*3[0-9]m", screen.raw) is None) == no_color


def test_a_terminal_without_these_characters(terminal: Sized, counts: dict[str, Counts]) -> None:
    counts["a"] = HALF
    screen = terminal(80, encoding="ascii")
    with progress() as listen:
        listen(Phase(pipeline="a", message="reading"))
        assert screen.until(_has("12 of 24"))[0].startswith("* a: reading")


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("CI", "true"), ("FRESHET_JVM_LOG", "warn"), ("TERM", "")])
def test_lines_where_nothing_can_be_drawn(
    terminal: Sized,
    counts: dict[str, Counts],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
) -> None:
    """A dumb terminal, a CI that has a terminal, a JVM that logs into it: lines with a time, and no escape sequence."""
    monkeypatch.setenv(name, value)
    screen = terminal(80)
    with progress(Output(False)) as listen:
        listen(Phase(pipeline="a", message="reading"))
        listen(Committed(pipeline="a", message="committed 1: 3 inserted", result={}))
    print(DONE_LINE, flush=True)
    lines = screen.until(_has(DONE_LINE))
    assert [line[10:] if line[:1].isdigit() else line for line in lines] == ["a: reading", DONE_LINE]
    assert b"\x1b" not in screen.raw


def test_a_log_is_told_how_far_a_step_is(
    counts: dict[str, Counts],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Where nothing else was said for long: here a twentieth of a second. The whole story is in the file, the result too."""
    monkeypatch.setattr(live, "SILENT_SECONDS", 0.05)
    counts["a"] = HALF
    with open(tmp_path / "log", "w+", encoding="utf-8") as log:
        monkeypatch.setattr(sys, "stderr", log)
        with progress(Output(False)) as listen:
            listen(Phase(pipeline="a", message="reading"))
            while "of 24 tasks" not in (tmp_path / "log").read_text("utf-8"):
                log.flush()
                time.sleep(0.02)
            listen(Committed(pipeline="a", message="committed 1: 3 inserted", result={}))
    lines = [line[10:] for line in (tmp_path / "log").read_text("utf-8").splitlines()]
    assert lines[0] == "a: reading"
    assert re.fullmatch(
        r"a: reading, 12 of 24 tasks, stage ends in about 30 s, 340,000 rows read, 52 MB, 0:0\d",
        lines[1],
    )
    assert lines[-1] == DONE_LINE


def _a_download(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let jars be fetched, the next one each time that somebody looks, and the last one for ever."""
    left = list(enumerate(names))

    def counts() -> Counts:
        done, name = left.pop(0) if len(left) > 1 else left[0]
        return Counts(doing=name, done=done, of=len(names), bytes=52_000_000, unit="jar")

    monkeypatch.setattr(live, "jar_counts", counts)


def test_a_download_of_jars_is_shown_by_whatever_waits_for_it(
    terminal: Sized,
    counts: dict[str, Counts],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first run of an installed freshet: nobody asked for jars, and Spark starts minutes later. Each pipeline waits."""
    _a_download(monkeypatch, "hudi.jar", "kafka.jar")
    screen = terminal(80)
    with progress(total=2) as listen:
        listen(Phase(pipeline="a", message="starting Spark"))
        listen(Phase(pipeline="b", message="starting Spark"))
        lines = screen.until(_has("1 of 2 jars, 52 MB, kafka.jar"))
        assert lines[2] == lines[4] == "  ━━━━━━━━──────── 1 of 2 jars, 52 MB, kafka.jar"
        monkeypatch.setattr(live, "jar_counts", lambda: None)
        counts["a"] = HALF
        screen.until(_has("12 of 24 tasks", without=("jars",)))


def test_a_log_is_told_of_each_jar(counts: dict[str, Counts], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _a_download(monkeypatch, "hudi.jar", "", "kafka.jar")
    monkeypatch.setattr(live, "_LOOKED_SECONDS", 0.01)
    with open(tmp_path / "log", "w+", encoding="utf-8") as log:
        monkeypatch.setattr(sys, "stderr", log)
        with progress(Output(False)) as listen:
            listen(Phase(pipeline="a", message="starting Spark"))
            while "kafka" not in (tmp_path / "log").read_text("utf-8"):
                log.flush()
                time.sleep(0.02)
            time.sleep(0.1)
    lines = [line[10:] for line in (tmp_path / "log").read_text("utf-8").splitlines()]
    assert lines == ["a: starting Spark", "fetching jar 1 of 3: hudi.jar", "fetching jar 3 of 3: kafka.jar"]


def test_a_log_that_holds_the_results_too_says_each_once(
    counts: dict[str, Counts],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    with open(tmp_path / "log", "w+", encoding="utf-8") as log:
        monkeypatch.setattr(sys, "stderr", log)
        monkeypatch.setattr(sys, "stdout", log)
        with progress(Output(False), total=2) as listen:
            listen(Committed(pipeline="a", message="committed 1: 3 inserted", result={}))
            listen(Failed(pipeline="b", message="X: no", error={"code": "X"}))
    assert [line[10:] for line in (tmp_path / "log").read_text("utf-8").splitlines()] == [
        "a: committed. 1 of 2 pipelines are through: 1 committed",
        "b: failed. 2 of 2 pipelines are through: failed: b (X), 1 committed",
    ]


def test_a_context_that_is_not_whole_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """While PySpark makes a context it is the active one and has no JVM's yet; one that ended has none; one may end now."""

    class Ends:
        @property
        def _jsc(self) -> object:
            raise ConnectionError

    class Dies:
        def sc(self) -> object:
            raise ConnectionError

    for context in (SimpleNamespace(), SimpleNamespace(_jsc=None), SimpleNamespace(_jsc=Dies()), Ends(), None):
        active = SimpleNamespace(SparkContext=SimpleNamespace(_active_spark_context=context))
        monkeypatch.setitem(sys.modules, "pyspark", active)
        assert spark_counts() == {}
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace())
    assert spark_counts() == {}, "a module that is being imported"


class Items:
    """A sequence as Scala has it."""

    def __init__(self, *items: object) -> None:
        self.items = items

    def size(self) -> int:
        return len(self.items)

    def apply(self, number: int) -> object:
        return self.items[number]

    def mkString(self, between: str) -> str:
        return between.join(map(str, self.items))


class Answers:
    """What answers each call of a name with one value."""

    def __init__(self, **values: object) -> None:
        self.values = values

    def __getattr__(self, name: str) -> Callable[..., object]:
        return lambda *_: self.values[name]


def test_nobody_reads_how_hudi_calls_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Spark's stages have done is told, and no name of a job: "Building workload profile", "broadcast exchange (runId"."""
    never = Answers(isDefined=False)
    stage = Answers(stageId=7, numCompleteTasks=3, numTasks=9, inputRecords=5, shuffleReadRecords=0, inputBytes=8)
    stage.values |= {"shuffleReadBytes": 0, "submissionTime": never}
    job = Answers(
        jobId=1, jobTags=Items("a"), stageIds=Items(7), description=Answers(isDefined=True, get="Getting small files")
    )
    store = Answers(activeStages=Items(stage), jobsList=Items(job))
    java = SimpleNamespace(util=Answers(ArrayList=Answers(add=True)))
    spark = SimpleNamespace(apache=SimpleNamespace(spark=SimpleNamespace(JobExecutionStatus=SimpleNamespace(RUNNING=1))))
    context = SimpleNamespace(_jsc=Answers(sc=Answers(statusStore=store)), _jvm=SimpleNamespace(java=java, org=spark))
    active = SimpleNamespace(SparkContext=SimpleNamespace(_active_spark_context=context))
    monkeypatch.setitem(sys.modules, "pyspark", active)
    assert spark_counts() == {"a": Counts(doing="", done=3, of=9, rows=5, bytes=8)}


def test_what_is_nobodys_belongs_to_the_only_one_at_work() -> None:
    board = Board()
    board.heard(Phase(pipeline="a", message="x"))
    board.counted({"": HALF})
    assert "12 of 24 tasks" in board.lines(80)[1]
    board.heard(Phase(pipeline="b", message="y"))
    board.counted({"": HALF, "b": HALF})
    assert [line.split()[0] for line in board.lines(80)] == ["●", "●", "━━━━━━━━────────"]


def test_whoever_is_stopped_is_told_what_was_published_and_what_repeats(terminal: Sized, counts: dict[str, Counts]) -> None:
    """Also by a signal that comes while the region is drawn: it is taken off the screen first, and not drawn again."""
    screen = terminal(80)
    with progress(Output(False)) as listen:
        listen(Committed(pipeline="a", message="words", result={"commits": ["20260801101500000"]}))
        listen(ChunkDone(pipeline="b", message="words", number=1, of=2, commits=("20260801101500001",)))
        listen(Phase(pipeline="b", message="writing derived.b"))
        screen.until(_has("● b: writing"))
        found = stopped("the keyboard")
        for put_away in BEFORE_LAST_WORDS:
            put_away()
        listen(Phase(pipeline="b", message="later"))
        os.write(sys.stderr.fileno(), b"last words\n")
        assert screen.until(_has("last words")) == ["last words"]
    assert found.details["published"] == [
        {"pipeline": "a", "commit": "20260801101500000"},
        {"pipeline": "b", "commit": "20260801101500001"},
    ]
    assert found.details["unfinished"] == [{"pipeline": "b", "doing": "writing derived.b"}]
    assert "b (writing derived.b)" in found.message


def test_a_process_that_is_about_to_end_itself_says_why(terminal: Sized, counts: dict[str, Counts]) -> None:
    """A run that hangs is ended without a result: its error is not left to one, and the region is taken away before."""
    screen = terminal(80)
    with progress(Output(False)) as listen:
        listen(Phase(pipeline="a", message="reading"))
        listen(Failed(pipeline="a", message="RUN_TIMEOUT: no", error={"code": "RUN_TIMEOUT"}, process_ends=True))
        assert screen.until(_has("RUN_TIMEOUT", without=("●",))) == ["a: RUN_TIMEOUT: no"]


def test_a_terminal_that_is_gone_stops_nothing(terminal: Sized, counts: dict[str, Counts]) -> None:
    screen = terminal(80)
    with progress() as listen:
        listen(Phase(pipeline="a", message="reading"))
        os.close(screen.slave)
        os.close(screen.master)
        listen(Phase(pipeline="a", message="writing"))
        listen(Notice(pipeline="a", message="words"))
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_is_broken_between_words_and_no_command_is(width: int) -> None:
    line = (
        "CHECKPOINT_EXPIRED: orders: the checkpoint is older than the first commit that /lake/raw/orders/with/a/long/path "
        "still has. Nothing was read. Look by `freshet status orders --env prod`, and then: freshet run orders --env prod "
        "--set a=b"
    )
    lines = wrapped(line, width).split("\n")
    assert " ".join(part.strip() for part in lines) == line
    assert any("freshet run orders --env prod --set a=b" in one for one in lines)
    assert any("`freshet status orders --env prod`," in one for one in lines)
    assert all(len(one) <= width or len(one.split("freshet")[0].split()) <= 1 for one in lines)
    # Two lines would be two commands.
    alone = '  freshet land raw.orders data/orders_1.csv --key id --ordering updated_at --columns "day STRING, fee DOUBLE"'
    assert wrapped(alone, width) == alone


@pytest.mark.parametrize(
    ("line", "below"),
    [
        ("  logic       31 days still hold rows of an older logic; 2026-01-01 to 2026-01-31 and so on", 16),
        ("  <SRC>       raw.events: what changed since the checkpoint, at most 5 commits a run", 16),
        ("  3. read <SRC> incrementally from raw.events, deletes included, and so on and so on", 7),
        ("    an indented line without a label that goes on and on and on and on and on", 6),
        ("CODE: a message that has  two blanks in it and goes on and on and on and on and on", 2),
    ],
)
def test_what_goes_on_stands_below_its_own_words(line: str, below: int) -> None:
    """Behind the label or the number of the line, so that nothing seems to be a line of its own."""
    lines = wrapped(line, 50).split("\n")
    assert [len(one) - len(one.lstrip()) for one in lines[1:]] == [below] * (len(lines) - 1)
    assert len(lines) > 1


def test_a_table_that_does_not_fit_is_a_block_for_each_row(terminal: Sized) -> None:
    headers, rows = ("NAME", "STATE", "AT"), [("a", "behind", "x" * 40), ("b", "-", "y" * 30)]
    screen = terminal(80)
    assert table(headers, rows).splitlines()[0].split() == ["NAME", "STATE", "AT"]
    screen.resize(40)
    assert table(headers, rows).splitlines() == ["a", "  state  behind", f"  at     {'x' * 40}", "b", f"  at     {'y' * 30}"]
