"""A Hudi table that goes through a history of operations, and its increments held against the difference of its snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from freshet.hudi.checkpoint import MAIN, Checkpoint
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import TableState
from freshet.hudi.timeline import TimelineState
from freshet.project.model.pipeline import SourceSpec, TableRef
from freshet.sources.hudi.look.partitions import touched_partitions
from freshet.sources.hudi.look.versions import version_at_end, versions_held
from freshet.sources.hudi.look.window import next_window
from freshet.sources.hudi.position import HudiPosition
from freshet.sources.hudi.read.reader import read_increment
from freshet.sources.hudi.reads import ReadIncrement
from tests.kit.frames import frame
from tests.kit.spared import spared

KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
INDEXES = ("BUCKET", "GLOBAL_SIMPLE", "keyless")
LAYOUTS = ("plain", "hive", "encoded", "times", "none", "two")
# Without a mark of deleted rows: with one, Hudi 1.0.2 cannot read a log of MERGE_ON_READ that holds parts of rows.
COLUMNS = ("id", "ts", "v", "amount", "day", "hour")
SCHEMA = "id string, ts bigint, v string, amount decimal(10,2), day string, hour string"
PLACES = {
    "encoded": (("50%", "1"), ("a/b", "2"), ("x=y", "3")),
    "times": (("2026-01-05 10:11:12", "1"), ("2026-01-06 00:00:00", "2"), ("2026-01-07 23:59:59", "3")),
    "two": (("d1", "1"), ("d1", "2"), ("d2", "1")),
}
_KEYGEN = "org.apache.hudi.keygen."
_WRITE = "hoodie.datasource.write."
_OF_LAYOUT = {
    "plain": {_WRITE + "partitionpath.field": "day"},
    "hive": {_WRITE + "partitionpath.field": "day", _WRITE + "hive_style_partitioning": "true"},
    "encoded": {_WRITE + "partitionpath.field": "day", _WRITE + "partitionpath.urlencode": "true"},
    "times": {
        _WRITE + "partitionpath.field": "day",
        _WRITE + "keygenerator.class": _KEYGEN + "TimestampBasedKeyGenerator",
        "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
        "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd HH:mm:ss",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    },
    "none": {_WRITE + "keygenerator.class": _KEYGEN + "NonpartitionedKeyGenerator"},
    "two": {_WRITE + "partitionpath.field": "day,hour", _WRITE + "keygenerator.class": _KEYGEN + "ComplexKeyGenerator"},
}
Row = tuple[Any, ...]
Rows = dict[tuple[str, str, str], Row]


class History:
    """One table, and what it looked like after each operation.

    Args:
        spark: The session.
        path: Where the table lies.
        kind, index, layout: One of ``KINDS``, ``INDEXES``, ``LAYOUTS``.
        cdc: Whether it records changes.
        payload: Class of a payload of its own; empty for Hudi's.
    """

    def __init__(
        self,
        spark: SparkSession,
        path: Path,
        kind: str,
        index: str,
        layout: str,
        cdc: bool,
        payload: str = "",
    ) -> None:
        self.spark, self.path = spark, path
        self.kind, self.index, self.layout, self.cdc = kind, index, layout, cdc
        self.places = PLACES.get(layout, (("d1", "1"), ("d2", "1"), ("d3", "1")))
        self.options = {
            "hoodie.table.name": "history",
            _WRITE + "table.type": kind,
            "hoodie.metadata.enable": "false",
            _WRITE + "precombine.field": "ts",
            "hoodie.embed.timeline.server": "false",
            "hoodie.clean.automatic": "false",
            **({"hoodie.parquet.bloom.filter.enabled": "false"} if spared() else {}),
            "hoodie.table.cdc.enabled": str(cdc).lower(),
            **_OF_LAYOUT[layout],
        }
        if index == "keyless":
            # Hudi makes the keys, by a generator of its own around the layout's.
            self.options.pop(_WRITE + "precombine.field")
        else:
            self.options |= {
                _WRITE + "recordkey.field": "id",
                "hoodie.index.type": index,
                "hoodie.simple.index.update.partition.path": "true",
                "hoodie.global.simple.index.parallelism": "2",
                "hoodie.simple.index.parallelism": "2",
                "hoodie.global.index.reconcile.parallelism": "2",
            }
        if index == "BUCKET":
            self.options["hoodie.bucket.index.num.buckets"] = "2"
        if payload:
            self.options[_WRITE + "payload.class"] = payload
        self.clock = 100
        self.position, self.rows = "", Rows()
        self._named, self._ids = False, set[tuple[str, int]]()

    # --- operations -----------------------------------------------------------------------------------------------

    def put(
        self,
        *items: tuple[str, int],
        operation: str = "",
        late: bool = False,
        gone: bool = False,
        v: str | None = "v",
        **options: str,
    ) -> None:
        """Write rows, each given by its id and the number of its place, with a new version or one that comes late."""
        self.clock += 1
        ts = 1 if late else self.clock
        if self.index == "keyless":
            # Whatever is written is a new row there.
            items = tuple((f"{key}.{self.clock}" if (key, place) in self._ids else key, place) for key, place in items)
            self._ids.update(items)
        batch = [(key, ts, v and f"{v}{self.clock}", None, *self.places[place]) for key, place in items]
        landing = frame(self.spark, batch, SCHEMA).coalesce(1)
        operation = operation or ("delete" if gone else "insert" if self.index == "keyless" else "upsert")
        settings = {**self.options, **options, _WRITE + "operation": operation}
        landing.write.format("hudi").options(**settings).mode("append").save(str(self.path))

    def sql(self, text: str) -> None:
        """Run a statement over the table ``history``."""
        self._name()
        # What the table does not know of itself: Spark SQL would make a metadata table, and write without the buckets.
        own = {"hoodie.metadata.enable": "false", "hoodie.embed.timeline.server": "false"}
        if self.index == "BUCKET":
            own |= {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
        for key, value in own.items():
            self.spark.conf.set(key, value)
        try:
            self.spark.sql(text).collect()
        finally:
            for key in own:
                self.spark.conf.unset(key)

    def call(self, procedure: str, arguments: str) -> None:
        """Call a procedure of Hudi's on the table."""
        self.sql(f"CALL {procedure}(table => 'history', {arguments})")

    def _name(self) -> None:
        if not self._named:
            self.spark.sql("DROP TABLE IF EXISTS history")
            self.spark.sql(f"CREATE TABLE history USING hudi LOCATION '{self.path}'")
            self._named = True

    def complete_last(self, behind: int) -> None:
        """Let the commit that was the last but so many complete after all others."""
        commits = sorted(self.state().commits, key=lambda i: i.requested)
        early, after = commits[-1 - behind], str(int(max(i.completed for i in commits)) + 5)
        timeline = self.path / ".hoodie/timeline"
        for dot in ("", "."):
            for file in timeline.glob(f"{dot}{early.requested}_{early.completed}.*"):
                file.rename(timeline / file.name.replace(early.completed, after))

    # --- what stands ----------------------------------------------------------------------------------------------

    def state(self) -> TableState:
        """Return the table's timeline."""
        state = TimelineState().table(self._ref())
        assert state is not None
        return state

    def snapshot(self) -> Rows:
        """Return what a plain snapshot read shows."""
        frame = self.spark.read.format("hudi").load(str(self.path)).select(*COLUMNS)
        found = [tuple(row) for row in frame.collect()]
        assert len({_identity(row) for row in found}) == len(found), "a row is there twice"
        return {_identity(row): row for row in found}

    def start(self) -> None:
        """Take what stands for read."""
        self.rows = self.snapshot()
        self.settle()

    def settle(self) -> None:
        """Take what has been looked at for read: a table service may have come after it."""
        self.position = self.state().commits[-1].completed

    def faults(self, expected: Rows | None = None, upto: str = "") -> list[str]:
        """Read what is new since the last look, and say how it differs from the difference of the snapshots.

        Args:
            expected: What stands now; None asks a snapshot.
            upto: Completion time up to which is read; empty for all.
        """
        now = self.snapshot() if expected is None else expected
        live, gone = self._increment(upto)
        # A global index writes a row that lost as it stood: it comes again, and is what it was.
        again = Counter(row for key, row in now.items() if self.rows.get(key) == row)
        found = _difference("changed", live - again, Counter(row for key, row in now.items() if self.rows.get(key) != row))
        found += _difference("deleted", gone, Counter(row for key, row in self.rows.items() if key not in now))
        self.rows = now
        return found

    def _increment(self, upto: str) -> tuple[Counter[Row], Counter[Row]]:
        state, ref = self.state(), self._ref()
        commits = sum(self.position < i.completed <= (upto or "9") for i in state.data_commits)
        spec = SourceSpec(
            table=ref,
            max_commits=commits or 1,
            missing_checkpoint="ERROR",
            full_scan_when_expired=False,
            incremental_format="auto",
        )
        position = HudiPosition(instant=self.position, table=ref.path)
        window = next_window("history", state, spec, position)
        if window.kind == "idle":
            return Counter(), Counter()
        # A run asks for the deletes of a table alone that records changes; what it would be told is the same of each.
        held = versions_held("history", state, window, Checkpoint({MAIN: position}))
        stage = ReadIncrement(
            table=ref,
            window=window,
            with_deletes=True,
            before=held,
            as_of=version_at_end(state, window.end_inclusive),
            partitions=touched_partitions(state, window),
        )
        rows = [tuple(row) for row in read_increment(self.spark, stage).select(*COLUMNS, IS_DELETED).collect()]
        self.position = window.end_inclusive
        return Counter(row[:-1] for row in rows if not row[-1]), Counter(row[:-1] for row in rows if row[-1])

    def _ref(self) -> TableRef:
        return TableRef("raw.history", str(self.path))


def _identity(row: Row) -> tuple[str, str, str]:
    return row[0], row[4], row[5]


def _difference(what: str, found: Counter[Row], expected: Counter[Row]) -> list[str]:
    return [f"not {what}: {row}" for row in (found - expected).elements()] + [
        f"{what}, and not told: {row}" for row in (expected - found).elements()
    ]


# --- the operations of a history: each begins from rows a0 to a3 in the first place, b0 to b2 in the second -----------------


def begin(history: History) -> None:
    """Make the table."""
    history.put(*((f"a{n}", 0) for n in range(4)), *((f"b{n}", 1) for n in range(3)))
    history.start()


def insert(history: History) -> list[str]:
    """New rows, in a place that is there and in a new one."""
    history.put((f"n{history.clock}", 0), (f"m{history.clock}", 2))
    return history.faults()


def update(history: History) -> list[str]:
    """Rows get a new version."""
    if history.index == "keyless":
        history.sql("UPDATE history SET v = concat(v, '+') WHERE id IN ('a0', 'b0')")
    else:
        history.put(("a0", 0), ("b0", 1))
    return history.faults()


def late_update(history: History) -> list[str]:
    """A version that is older than what stands, beside a new one."""
    history.put(("a1", 0), late=True)
    return history.faults()


def delete(history: History) -> list[str]:
    """Rows go; one comes back."""
    if history.index == "keyless":
        history.sql("DELETE FROM history WHERE id IN ('a1', 'b1')")
    else:
        history.put(("a1", 0), ("b1", 1), gone=True)
    found = history.faults()
    history.put(("a1", 0))
    return found + history.faults()


def move(history: History) -> list[str]:
    """A row's key in another place: by a global index it moves, by others it is a second row. And back."""
    history.put(("a2", 1))
    found = history.faults()
    history.put(("a2", 0), ("b2", 1))
    return found + history.faults()


def merge_into(history: History) -> list[str]:
    """Spark SQL's MERGE INTO of some columns, which logs parts of rows, and a delete by it."""
    history.clock += 1
    source = " UNION ALL ".join(
        f"SELECT '{key}' AS id, {history.clock}L AS ts, '{word}' AS w, '{history.places[place][0]}' AS day, "
        f"'{history.places[place][1]}' AS hour"
        for key, place, word in (("a0", 0, "merged"), ("b0", 1, "gone"))
    )
    history.sql(
        f"MERGE INTO history t USING ({source}) s ON t.id = s.id WHEN MATCHED AND s.w = 'gone' THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET t.v = s.w, t.ts = s.ts"
    )
    found = history.faults()
    if history.kind == "MERGE_ON_READ" and history.index == "GLOBAL_SIMPLE":
        # Hudi 1.0.2 looks a key up in its rows, and does so without merging parts of them.
        history.call("run_compaction", "op => 'scheduleAndExecute', options => 'hoodie.compact.inline.max.delta.commits=1'")
    history.put(("b0", 1))
    return found + history.faults()


def partial_update(history: History) -> list[str]:
    """A payload that takes a null for "not changed"; one of the rows changes in nothing but its version."""
    history.put(("a0", 0), ("b0", 1), v=None)
    return history.faults()


def insert_overwrite(history: History) -> list[str]:
    """One place's rows are replaced; then rows come back."""
    history.put(("b0", 1), ("fresh", 1), operation="insert_overwrite")
    found = history.faults()
    history.put(("b1", 1), ("b2", 1))
    return found + history.faults()


def delete_partition(history: History) -> list[str]:
    """A whole place goes; then rows come back."""
    history.put(("b0", 1))
    history.start()
    day, hour = history.places[1]
    ((gone,),) = (
        history.spark.read.format("hudi")
        .load(str(history.path))
        .where(f"day = '{day}' AND hour = '{hour}'")
        .select("_hoodie_partition_path")
        .distinct()
        .collect()
    )
    history.put(("b0", 1), operation="delete_partition", **{_WRITE + "partitions.to.delete": gone})
    found = history.faults()
    history.put(("b0", 1), ("b1", 1), ("b2", 1))
    return found + history.faults()


def rollback(history: History) -> list[str]:
    """A commit that nobody read is taken back."""
    history.put(("bad", 0))
    bad = history.state().commits[-1].requested
    history.call("rollback_to_instant", f"instant_time => '{bad}'")
    history.put(("a3", 0))
    return history.faults()


def clustering(history: History) -> list[str]:
    """Rows change, and then all of them lie in other files."""
    history.put(("a3", 0))
    history.call("run_clustering", "op => 'scheduleAndExecute'")
    found = history.faults()
    history.put(("b0", 1))
    return found + history.faults()


def compaction(history: History) -> list[str]:
    """Rows change, and then the logs are in base files."""
    history.put(("a3", 0))
    history.call("run_compaction", "op => 'scheduleAndExecute', options => 'hoodie.compact.inline.max.delta.commits=1'")
    found = history.faults()
    history.put(("b0", 1))
    return found + history.faults()


def overlapping(history: History) -> list[str]:
    """One writer begins first and completes last; between the two what the other wrote is read."""
    before = dict(history.rows)
    if history.index == "keyless":
        history.sql("DELETE FROM history WHERE id = 'b2'")
    else:
        history.put(("b2", 1), gone=True)
    history.put((f"o{history.clock}", 0))
    now = history.snapshot()
    between = {**before, **{key: row for key, row in now.items() if key not in before}}
    history.complete_last(behind=1)
    first = history.state().data_commits[-2].completed
    found = history.faults(between, first)
    found += history.faults(now)
    history.put(("b2", 1))
    return found + history.faults()


OPERATIONS: dict[str, Callable[[History], list[str]]] = {
    one.__name__: one
    for one in (
        insert,
        update,
        late_update,
        delete,
        move,
        merge_into,
        partial_update,
        insert_overwrite,
        delete_partition,
        rollback,
        clustering,
        compaction,
        overlapping,
    )
}


def impossible(kind: str, index: str, layout: str, operation: str) -> str:
    """Return why Hudi 1.0.2 cannot do an operation on a table; empty where it can."""
    if operation == "compaction" and kind == "COPY_ON_WRITE":
        return "COPY_ON_WRITE has nothing to compact"
    if index == "keyless" and operation in ("late_update", "partial_update"):
        return "a table without a key has no row that a batch could name"
    if index == "keyless" and operation == "move":
        return "the key that Hudi makes is looked for in one partition"
    if index == "BUCKET" and operation == "clustering":
        return "Hudi 1.0.2 gives the new files names without a bucket, and fails at every later write"
    if kind == "MERGE_ON_READ" and layout == "times" and operation == "partial_update":
        return "Hudi 1.0.2 shows the partition column as null where a payload of its own merges logs: PARTITION_UNREADABLE"
    if index == "keyless" and kind == "MERGE_ON_READ" and operation == "merge_into":
        return "Hudi 1.0.2 does not read the parts of rows that it logs there: its merger by commit time knows none"
    if layout == "none" and operation in ("move", "delete_partition"):
        return "there are no partitions"
    return ""
