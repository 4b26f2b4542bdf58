"""One landing in a table that is held: the files are compared with the table, and what they change is committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from freshet.errors import FreshetError, RetryableError
from freshet.events.event import Listener
from freshet.events.kinds import Notice, Phase
from freshet.hudi.buckets import buckets_for
from freshet.hudi.checkpoint import RUN_ID_KEY
from freshet.hudi.table import Instant, StateReader, TableState
from freshet.jvm.session import use_settings
from freshet.landing.changes import Found, absent_of, compare, counts, written
from freshet.landing.columns import Asked, columns_for
from freshet.landing.file_rows import FILE
from freshet.landing.files import Files, named
from freshet.landing.heads import shown
from freshet.landing.outcome import Landed, Landing, refuse_nameless, refuse_odd, refuse_wrong
from freshet.landing.plan import UNTOUCHED, TableAsked, landing_commit, new_spec
from freshet.landing.rows import batch_of, failed_read, with_misfits
from freshet.landing.standing import standing_spec
from freshet.project.load.warehouse import Warehouse
from freshet.project.model.pipeline import PipelineSpec
from freshet.quality.kept import keep_rows, use_few_tasks
from freshet.run.catalogue import sync_if_due
from freshet.run.fence import check_clock
from freshet.run.spark import plain_session
from freshet.run.sync_due import mark_due
from freshet.run.write_session import WriteSession
from freshet.sinks.commit import empty_batch, write_commit
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import counted
from freshet.types.columns import Column

# Bytes of files that are landed before an optimising compiler pays.
_FEW_BYTES = 64 << 20


class Work:
    """One landing in a table that is held."""

    def __init__(
        self,
        warehouse: Warehouse,
        landing: Landing,
        state: StateReader,
        files: Files,
        bare: PipelineSpec,
        listen: Listener,
        session: WriteSession,
        run_id: str,
    ) -> None:
        self.warehouse, self.landing, self.state, self.files = warehouse, landing, state, files
        self.bare, self.listen, self.session, self.run_id = bare, listen, session, run_id
        self.notices: list[str] = []

    def done(self, said: tuple[Column, ...]) -> Landed:
        ref, landing = self.bare.target.ref, self.landing
        table = self.state.table(ref)
        asked = TableAsked(
            key=landing.key,
            ordering=landing.ordering,
            partition_by=landing.partition_by,
            table_type=landing.table_type,
            columns=said,
            buckets=self._buckets(),
            exactly=landing.partition_bytes is not None,
        )
        if table is not None and table.commits:
            spec = standing_spec(self.bare, self.warehouse, asked, table)
        else:
            table, spec = None, self.bare
            refuse_nameless(landing)
        self._phase("starting Spark")
        spark = plain_session(spec, short=self.files.size <= _FEW_BYTES)
        use_settings(spark, spec.spark_conf)
        # A row with too few or too many values is found by looking at all of them.
        spark.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")
        use_few_tasks(spark, [], spec.spark_conf)
        with self.session.writing(spark):
            try:
                if table is None:
                    self._phase(f"looking at {named(self.files)}")
                    columns = columns_for(spark, self.files, said, self._asked(), ref.name, self.notices)
                    spec = new_spec(spec, self.warehouse, asked, columns)
                self._phase(f"reading {named(self.files)}")
                return self._landed(spark, spec, table)
            except (Py4JJavaError, PySparkException) as error:
                raise with_misfits(spark, failed_read(ref, error, self.files), self.files, spec) from error

    def _landed(self, spark: SparkSession, spec: PipelineSpec, table: TableState | None) -> Landed:
        landing, ref = self.landing, spec.target.ref
        batch, told = batch_of(spark, self.files, spec, self._asked(), table is not None)
        self.notices += told
        stands = load_table(spark, ref.path) if table is not None else None
        use_few_tasks(spark, [batch, *([stands] if stands is not None else [])], spec.spark_conf)
        compared = keep_rows(compare(batch, stands, spec, FILE, landing.generated, landing.whole))
        found = counts(compared, spec, FILE)
        refuse_wrong(spec, found)
        result = self._result(spec, found, table is None)
        changed = result.inserted + result.updated + result.deleted
        refuse_odd(result, landing, named(self.files), found["older"].example if "older" in found else "")
        if not changed and not landing.remember:
            return replace(result, notices=tuple(self.notices))
        commit, held = landing_commit(
            spec,
            self.state,
            table,
            {"files": [shown(path) for path in self.files.paths][:100], "rows": result.rows, **landing.remember},
        )
        self._tell(*self._replaced(spec, found), *(f"{notice.code}: {notice.message}" for notice in held))
        self._phase(f"writing {counted(changed, 'row')} to {ref.name}")
        self._fence(spark, spec, table)
        mark_due(spec)
        rows = written(compared, spec, landing.generated) if changed else empty_batch(spark, spec.target.columns)
        failed: FreshetError | None = None
        try:
            self.session.confirm()
            write_commit(rows, commit, self.run_id)
        except FreshetError as error:
            failed = error
        instant = self._commit(spec, failed)
        if table is not None and spec.target.table_type == "MERGE_ON_READ" and result.inserted:
            result = self._without_deleted(result, absent_of(compared, load_table(spark, ref.path), spec))
        sync = sync_if_due(spec, spark, self._phase)
        self._tell(*((str(sync),) if sync is not None else ()))
        return replace(result, outcome="committed", commit=instant.completed, notices=tuple(self.notices))

    def _without_deleted(self, result: Landed, absent: int) -> Landed:
        # A log holds a delete beyond the row that it took away, and nothing but the merged table tells of it.
        if absent:
            self._tell(
                f"OLDER_THAN_DELETE: {counted(absent, 'row')} stayed away: a delete with a newer {result.ordering} "
                "stands in the table's logs; it is gone after the next compaction, or give the row a newer one"
            )
        return replace(result, inserted=result.inserted - absent, older=result.older + absent)

    def _fence(self, spark: SparkSession, spec: PipelineSpec, before: TableState | None) -> None:
        if self.session.clear_lock(spec):
            self._tell("STALE_LOCK: a killed writer's lock was removed")
        now = self.state.table(spec.target.ref)
        seen, newest = (one.commits[-1:] if one is not None else () for one in (before, now))
        if seen != newest:
            raise RetryableError(
                "TABLE_CHANGED",
                f"{spec.name}: another writer has committed since it was read.",
                UNTOUCHED,
                "Run the same command again.",
            )
        if newest:
            check_clock(spark, spec, newest[0].completed)

    def _commit(self, spec: PipelineSpec, failed: FreshetError | None) -> Instant:
        table = self.state.table(spec.target.ref)
        newest = () if table is None else ((i, table.info(i)) for i in reversed(table.commits))
        found = next(((i, info) for i, info in newest if info.extra.get(RUN_ID_KEY) == self.run_id), None)
        if found is None:
            raise failed or FreshetError(
                "COMMIT_MISSING",
                f"{spec.name}: Hudi reported success, and the timeline of {spec.target.ref.path} has no "
                f"commit of {self.run_id}.",
                UNTOUCHED,
                "Run the same command again.",
                run_id=self.run_id,
            )
        if found[1].errors:
            raise FreshetError(
                "ROWS_NOT_WRITTEN",
                f"{spec.name}: Hudi left {counted(found[1].errors, 'row')} out.",
                f"The commit {found[0].completed} stands.",
                "FRESHET_JVM_LOG=warn prints why.",
            )
        if failed is not None:
            # Hudi runs its table services after the commit.
            self._tell(f"SERVICE_FAILED: the rows are published; a table service failed after the commit: {failed.message}")
        return found[0]

    def _result(self, spec: PipelineSpec, found: Mapping[str, Found], made: bool) -> Landed:
        def keys(*kinds: str) -> int:
            return sum(found[kind].keys for kind in kinds if kind in found)

        target = spec.target
        moved = sum(one.moved for kind, one in found.items() if kind in ("updated", "replaced"))
        replaced = keys("replaced")
        return Landed(
            table=target.ref.name,
            path=target.ref.path,
            outcome="idle",
            files=self.files.paths,
            rows=sum(one.rows for one in found.values()),
            inserted=keys("inserted"),
            updated=keys("updated", "replaced"),
            deleted=keys("deleted", "missing"),
            unchanged=keys("unchanged"),
            older=keys("older"),
            replaced=replaced,
            moved=moved,
            absent=keys("absent"),
            made=made,
            commit="",
            columns=tuple((c.name, str(c.type)) for c in target.columns),
            key=target.record_key,
            ordering=target.ordering_field,
            partition_by=target.partition_by,
            readers=tuple(reader.name for reader in spec.readers),
        )

    @staticmethod
    def _replaced(spec: PipelineSpec, found: Mapping[str, Found]) -> tuple[str, ...]:
        kind = found.get("replaced")
        if kind is None or not kind.keys:
            return ()
        return (
            f"SAME_ORDERING: {counted(kind.keys, 'row')} with the {spec.target.ordering_field} that stood there, and other "
            f"values, {'takes' if kind.keys == 1 else 'take'} the place of what stood, as {kind.example}",
        )

    def _asked(self) -> Asked:
        landing = self.landing
        return Asked(
            key=landing.key, ordering=landing.ordering, partition_by=landing.partition_by or (), generated=landing.generated
        )

    def _buckets(self) -> int:
        size = self.landing.partition_bytes
        # Of a table without partitions the files tell what it begins with.
        return buckets_for(size if size is not None else 0 if self.landing.partition_by else self.files.size)

    def _phase(self, words: str) -> None:
        self.listen(Phase(pipeline=self.bare.name, message=words))

    def _tell(self, *notices: str) -> None:
        for words in notices:
            self.notices.append(words)
            self.listen(Notice(pipeline=self.bare.name, code=words.partition(":")[0], message=words))
