"""Start Spark, once per process: the jars that are pinned, a quiet JVM, no secret on its command line."""

from __future__ import annotations

import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, current_thread, main_thread
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from freshet.jvm.class_data import CLASS_PATH, ClassData, find_class_data
from freshet.jvm.conf import decoder_options, names_a_collector, source_jars, without_secrets
from freshet.jvm.hbase_site import with_hbase_site
from freshet.jvm.jars import resolve_jars
from freshet.jvm.java import find_java_home
from freshet.jvm.log import stderr_kept
from freshet.jvm.unfit import CHECKED, NEEDED, refuse_unfit

# UTC in the JVM, because Hudi names instants by the JVM's clock: with daylight saving an hour of them would come twice.
# The last two spare a library that Hudi measures objects with from starting a second process to look at this one.
_JAVA_OPTIONS = (
    "-Duser.timezone=UTC -Dlog4j2.configurationFile={log4j} -Djdk.attach.allowAttachSelf=true -Djol.skipHotspotSAAttach=true"
)
# A short job ends before the optimising compiler earns back what it takes: an increment of 2,000 rows takes 10.6 s of CPU
# instead of 20.0 s; at a first load of a million rows both take the same. The 48 MB that Java then has for compiled code
# fill up in a long process.
_SHORT_JOB = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
# Java's own choice, G1, touches a gigabyte before it collects much. This one uses the same 128 MB again and again: a run over
# 12,000 of a million rows holds 0.6 GiB of memory, not 1.6, and takes 0.94 times as long; one of 190,000 rows 0.8, not 2.3,
# and 1.0 to 1.1 times as long. It has one thread, and has been measured with two cores only.
_FEW_CORES, _COLLECTOR = 4, "-XX:+UseSerialGC -Xmn128m"
_HUDI = {
    **(NEEDED | CHECKED),
    # Blocks of 64 KB in the record index, a sixteenth of what Hudi 1.0.2 asks HBase's writer for: `hoodie.hfile.block.size`
    # does not reach the metadata table. A look-up unpacks the whole block of each key, which of a large index and 20,000 keys
    # is nearly every block of a megabyte: a run over as many of 64 million rows took 28 s of CPU so, and takes 22 s. The list
    # of a file's blocks stays one list, as it was, and no tree.
    "spark.hadoop.hbase.writer.unified.encoded.blocksize.ratio": "0.0625",
    "spark.hadoop.hfile.index.block.max.size": "67108864",
}
_DEFAULTS = {
    "spark.master": "local[*]",
    "spark.app.name": "freshet",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    # Hudi writes times by the calendar of today, and does not say so in the file. Of a file that holds one of before 1900, or
    # a date of before 1582, Spark would then refuse to read any row.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
}
# Where Spark writes rows itself, as in a bulk insert and a compaction, it refuses times before 1900 and dates before 1582 by
# default: Hudi 1.0.2 then drops the row and gives its key to the next one. By another calendar than Hudi's they would change.
#: Settings that no project can change.
ALWAYS = {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED"}

# How Hudi's tables are read, by a session's own settings, so that what a transformer loads by itself is read so too.
_READING = {
    # Hudi 1.0.2 skips files by the column statistics of a table's metadata, which every table but freshet's has, and persists
    # and unpersists them on the way. To unpersist takes the locks of all that Spark's cache holds. In a query that is being
    # kept a small table is read by the broadcast's thread: that waits for the query, and the query for it, for ever.
    "hoodie.enable.data.skipping": "false",
}

_STARTING = Lock()


class _Own:
    """The application that this process has started by itself; another one may be of the user's own."""

    context: SparkContext | None = None


def session_conf(
    conf: Mapping[str, str],
    jars: tuple[Path, ...],
    class_data: ClassData | None = None,
    short: bool = False,
    sources: tuple[Path, ...] = (),
) -> dict[str, str]:
    """Return the whole configuration of a session.

    Args:
        conf: The project's ``spark:`` settings; they win, and their Java options are added to freshet's own.
        jars: The pinned jars.
        class_data: The archive of classes that Java maps, with the jars on its class path instead of in ``spark.jars``.
        short: True for a process that will not do more than a small job.
        sources: Jars of the sources that its pipelines read. They are never in the archive.
    """
    java_options = _JAVA_OPTIONS.format(log4j=Path(__file__).with_name("log4j2.properties").absolute().as_uri())
    if short:
        java_options = f"{java_options} {_SHORT_JOB}"
        if not names_a_collector(conf) and (os.cpu_count() or 1) <= _FEW_CORES:
            java_options = f"{java_options} {_COLLECTOR}"
    merged = {**_DEFAULTS, **_HUDI, **conf, **ALWAYS}
    if class_data is not None:
        jars, java_options = (), f"{java_options} {class_data.java_options}"
        # What has to be found before the jars stands before them, and then the archive does not fit.
        merged[CLASS_PATH] = ":".join(part for part in (conf.get(CLASS_PATH, ""), class_data.class_path) if part)
    driver, executor = "spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"
    decoder = decoder_options(conf)
    merged[driver] = " ".join(part for part in (java_options, decoder, conf.get(driver, "")) if part)
    merged[executor] = " ".join(part for part in ("-Duser.timezone=UTC", decoder, conf.get(executor, "")) if part)
    named = ",".join(part for part in (*map(str, (*jars, *sources)), conf.get("spark.jars", "")) if part)
    if named:
        merged["spark.jars"] = named
    return dict(sorted(merged.items()))


def use_settings(spark: SparkSession, conf: Mapping[str, str]) -> list[str]:
    """Give a session the SQL settings of one pipeline, whatever pipeline the application was started for.

    Args:
        spark: A session of the pipeline's own.
        conf: The pipeline's ``spark:`` settings.

    Returns:
        Settings that the running application can no longer take.
    """
    wanted = {**_DEFAULTS, **conf, **ALWAYS}
    started = dict(spark.sparkContext.getConf().getAll())
    for key in started:
        if key.startswith("spark.sql.") and key not in wanted and spark.conf.isModifiable(key):
            spark.conf.unset(key)
    for key, value in wanted.items():
        if spark.conf.isModifiable(key):
            spark.conf.set(key, value)
    for key, value in _READING.items():
        spark.conf.set(key, value)
    added = ("spark.jars", "spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
    return sorted(
        key
        for key, value in conf.items()
        if key not in added and not spark.conf.isModifiable(key) and started.get(key) != value
    )


def start_session(conf: Mapping[str, str], short: bool = False) -> SparkSession:
    """Return the process's session, starting Spark where none runs.

    Under spark-submit the JVM, its jars and its memory are those that spark-submit was given. A session of the user's own is
    used where it has what Hudi needs.

    Args:
        conf: The project's ``spark:`` settings.
        short: True for a process that will not do more than a small job.

    Raises:
        FreshetError: JAVA_NOT_FOUND, JAR_MISSING, JAR_ALTERED or SESSION_UNFIT.
    """
    with _STARTING:
        context = SparkContext._active_spark_context
        if context is not None:
            if context is not _Own.context:
                refuse_unfit(context, conf)
            return SparkSession.builder.getOrCreate()
        session = _start(conf, short)
        _Own.context = session.sparkContext
        return session


def _forget_stopped() -> None:
    # PySpark would go on in the JVM of a session that was stopped, which may have neither the jars nor the options.
    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        # It ends with its parent, which is what this looks like to it.
        process.stdin.close()


def _start(conf: Mapping[str, str], short: bool) -> SparkSession:
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    jars = () if submitted else resolve_jars()
    sources = () if submitted else source_jars(conf)
    class_data = None if submitted else find_class_data(conf, jars)
    conf = with_hbase_site(conf, archived=class_data is not None)
    if conf.get(CLASS_PATH):
        class_data = None
    whole = session_conf(conf, jars, class_data, short, sources)
    if submitted:
        whole = {k: v for k, v in whole.items() if k not in ("spark.master", "spark.jars", "spark.driver.extraJavaOptions")}
    else:
        _forget_stopped()
        os.environ["JAVA_HOME"] = str(find_java_home())
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        whole.setdefault("spark.sql.warehouse.dir", str(Path(tempfile.gettempdir()) / "freshet-spark-warehouse"))
        # What stands on a command line can be read by every user of the machine: secrets follow over the gateway.
        public = session_conf(without_secrets(conf), jars, class_data, short, sources)
        with _jvm_stdout_discarded(), stderr_kept():
            gateway = launch_gateway(SparkConf(loadDefaults=False).setAll(list(public.items())))  # type: ignore[no-untyped-call]
            SparkContext._ensure_initialized(gateway=gateway)
    # Of a JVM that ended py4j logs each broken call with its trace; the run's error says it once.
    logging.getLogger().addFilter(_not_of_py4j)
    answer = signal.getsignal(signal.SIGINT)
    session = SparkSession.builder.config(conf=SparkConf(loadDefaults=False).setAll(list(whole.items()))).getOrCreate()
    _remember_classes(session)
    if current_thread() is main_thread() and answer is not None:
        # PySpark sets one of its own, which asks the JVM for something and then unwinds.
        signal.signal(signal.SIGINT, answer)
    return session


def _remember_classes(session: SparkSession) -> None:
    # PySpark names these at each use of a function or a column, and py4j then has Java look for them in every package that
    # is imported, through every jar: some two thousand times in a run, and a tenth of a small one's CPU.
    jvm: Any = session._jvm
    for name in ("functions", "PythonUtils", "SparkSession", "SparkSession$"):
        setattr(jvm, name, getattr(jvm, name))


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return not record.pathname.replace("\\", "/").rpartition("/")[0].endswith("/py4j")


@contextmanager
def _jvm_stdout_discarded() -> Iterator[None]:
    # The JVM inherits our stdout, which is for results. Logs go to stderr; what a library prints there is no use to anyone.
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
