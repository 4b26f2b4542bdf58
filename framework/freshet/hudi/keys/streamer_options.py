"""The options of HoodieStreamer's command line, and what to write for each.

Source: ``HoodieStreamer.Config`` of Hudi 1.0's ``hudi-utilities``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from freshet.hudi.keys.options import MERGE_MODE, OPERATION, ORDERING_FIELD, PAYLOAD_CLASS, SOURCE_PATH

_ALWAYS = "Leave it out."
_SCHEDULING = "Leave it out: 'freshet run --all --parallel 4' runs four pipelines at a time."
_SYNC = "Write 'hoodie.datasource.meta.sync.enable: true' and what it needs under 'hoodie:'."
_OWN_CODE = "Leave it out: a pipeline has checks and Python steps for code of its own."

_ADVICE: tuple[tuple[str, str], ...] = (
    ("Write each line of the file as 'key: value' under 'hoodie:'.", "--props"),
    ("Write 'key: value' under 'hoodie:', or --set key=value.", "--hoodie-conf"),
    ("The path comes from 'warehouse:' or the DDL's LOCATION.", "--target-base-path"),
    ("The table's name comes from CREATE TABLE in the DDL.", "--target-table"),
    ("Write type = 'cow' or 'mor' in the DDL's TBLPROPERTIES.", "--table-type"),
    ("Leave it out: freshet writes Parquet.", "--base-file-format"),
    (
        f"Leave it out: '{SOURCE_PATH}' names a Hudi table, and the key of a topic or of files says what that is.",
        "--source-class",
    ),
    (
        f"Write preCombineField in the DDL's TBLPROPERTIES, or '{ORDERING_FIELD}' under 'hoodie:'.",
        "--source-ordering-field --source-ordering-fields",
    ),
    (f"Write '{PAYLOAD_CLASS}' under 'hoodie:'.", "--payload-class"),
    (f"Write '{MERGE_MODE}' under 'hoodie:'.", "--merge-mode --record-merge-mode"),
    (
        "Leave it out: rows are merged by the ordering field.",
        "--merger-impls --record-merge-impl-classes --merge-strategy-id --record-merge-strategy-id",
    ),
    ("Leave it out: the DDL file owns the schema.", "--schemaprovider-class"),
    ("List the SQL and Python files under 'transform:'.", "--transformer-class"),
    (
        "Write 'hoodie.streamer.source.hoodieincr.num_instants': how many commits one run reads; of topics "
        "'hoodie.streamer.kafka.source.maxEvents': how many records; of files 'source: {files: {max_bytes: ...}}'.",
        "--source-limit",
    ),
    (f"Write '{OPERATION}: upsert', insert, delete or insert_overwrite under 'hoodie:', in small letters or not.", "--op"),
    ("Leave it out: the ordering field decides which row of a key stays.", "--filter-dupes"),
    (_SYNC, "--enable-hive-sync --enable-sync --sync-tool-classes --force-empty-sync"),
    (
        "Leave it out: 'freshet service' carries out what is pending.",
        "--max-pending-compactions --max-pending-clustering "
        "--retry-last-pending-inline-compaction --retry-last-pending-inline-clustering",
    ),
    (
        "Write 'continuous: {min_interval: 30s}' and start 'freshet serve', or drain the source by 'freshet run --drain'.",
        "--continuous --min-sync-interval-seconds",
    ),
    ("Write 'spark.master' under 'spark:'.", "--spark-master"),
    (
        "Leave it out: a row that cannot be written fails the run; a check with 'severity: drop' sends it to the quarantine.",
        "--commit-on-errors",
    ),
    (
        _SCHEDULING,
        "--delta-sync-scheduling-weight --compact-scheduling-weight --delta-sync-scheduling-minshare "
        "--compact-scheduling-minshare --cluster-scheduling-weight --cluster-scheduling-minshare",
    ),
    ("Write 'hoodie.compact.inline: false' under 'hoodie:'.", "--disable-compaction"),
    ("Set it once: freshet checkpoint set NAME INSTANT", "--checkpoint --initial-checkpoint-provider"),
    ("Set it once: freshet checkpoint reset NAME", "--ignore-checkpoint"),
    ("Leave it out: a Hudi table is written as it is.", "--run-bootstrap --bootstrap-overwrite --bootstrap-index-class"),
    (
        "Leave it out: exit code 4 says that the same command may succeed later.",
        "--retry-on-source-failures --retry-interval-seconds --max-retry-count",
    ),
    (_OWN_CODE, "--post-write-termination-strategy-class --config-hot-update-strategy-class --ingestion-metrics-class"),
    (_ALWAYS, "--allow-commit-on-no-checkpoint-change"),
)


@cache
def _advice() -> Mapping[str, str]:
    return {name: advice for advice, names in _ADVICE for name in names.split()}


def advice_for(word: str) -> str:
    """Return what to write for an option of HoodieStreamer, such as ``--op``; empty for any other word."""
    return _advice().get(word.partition("=")[0].partition(" ")[0].strip(), "")
