"""Give a table that stands another index."""

from __future__ import annotations

import time
from dataclasses import replace

from freshet.errors import StateError
from freshet.events.bus import new_run_id
from freshet.events.event import Listener
from freshet.hudi.checkpoint import INDEX_KEY
from freshet.hudi.keys.options import BUCKET_COUNT
from freshet.hudi.options import REPLACES_ALL
from freshet.hudi.table import StateReader
from freshet.index.hbase.building import Layout
from freshet.index.ops.make import IndexResult, make_index, make_record_index, result_of
from freshet.index.ops.work import Work, index_work, require_rows
from freshet.plan.index_record import is_index
from freshet.plan.parts import commit_stage
from freshet.project.model.pipeline import IndexSpec, PipelineSpec, Project
from freshet.run.service import service_client
from freshet.sinks.commit import write_commit
from freshet.sources.hudi.read.reader import load_table
from freshet.sources.hudi.reads import Window


def migrate_index(
    project: Project,
    spec: PipelineSpec,
    state: StateReader,
    listen: Listener,
    layout: Layout,
    to: str,
) -> IndexResult:
    """Give a target that stands the index that the pipeline's files name now.

    HBASE and RECORD_INDEX are made from the rows as they lie. BUCKET decides where a row lies, so that all are written again.

    Args:
        project: The project.
        spec: The pipeline, with its new index.
        state: Reader of the tables.
        listen: Told what happens.
        layout: How HFiles are written.
        to: The index type that the user named.

    Raises:
        StateError: INDEX_NOT_DECLARED, TARGET_MISSING.
        FreshetError: The making failed; the table is as it was, and the same command begins anew.
    """
    if to != spec.index.type:
        raise StateError(
            "INDEX_NOT_DECLARED",
            f"{spec.name}: the files say {spec.index.type}, not {to}.",
            "Nothing was done.",
            f"Write 'hoodie.index.type: {to}' and what it needs, then run the same command: the files are what later runs use.",
        )
    require_rows(spec, state)
    with index_work(project, spec, state, listen) as work:
        target = require_rows(spec, state)
        if is_index(target.latest_extra(INDEX_KEY) or "{}", spec):
            return IndexResult(pipeline=spec.name, done="nothing to do: the table has this index", index=spec.index.type)
        start = time.monotonic()
        if spec.index.hbase is not None:
            built = make_index(work, spec, spec.index.hbase, layout)
            return result_of(spec, "migrated", built, {"index": round(time.monotonic() - start, 3)})
        if spec.index.type == "BUCKET":
            work.phase(f"writing {spec.target.ref.name} into buckets")
            commit = commit_stage(spec, Window(kind="index", reason=f"migrated to {to}"), None, empty=True)
            rows = load_table(work.spark, spec.target.ref.path).select(*(f"`{c.name}`" for c in spec.target.columns))
            # Its keys stand once each.
            options = {**commit.options, "hoodie.combine.before.insert": "false"}
            commit = replace(commit, operation=REPLACES_ALL, options=options)
            with work.session.writing(work.spark):
                work.session.confirm()
                write_commit(rows, commit, new_run_id())
        else:
            if spec.target.table_type == "MERGE_ON_READ":
                work.phase("compacting: a record index is made from base files")
                _compact(work)
            make_record_index(work, f"migrated to {to}")
        return IndexResult(
            pipeline=spec.name, done="migrated", index=spec.index.type, seconds={"index": round(time.monotonic() - start, 3)}
        )


def _compact(work: Work) -> None:
    """Give every file group a base file: of one that is a log alone, as HBase's index leaves them, Hudi 1.0.2 makes no record
    index ("No value present")."""
    # No index is asked while files are merged; the one that is on its way would be made at once.
    plain = replace(
        work.spec,
        index=IndexSpec("BUCKET", {BUCKET_COUNT: "1"}),
        write_options={
            key: value for key, value in work.spec.write_options.items() if not key.startswith("hoodie.metadata.record.index")
        },
    )
    with work.session.writing(work.spark), service_client(work.spark, plain) as (client, none):
        planned = client.scheduleCompaction(none)
        if planned.isPresent():
            work.session.confirm()
            client.commitCompaction(planned.get(), client.compact(planned.get()).getCommitMetadata().get(), none)
