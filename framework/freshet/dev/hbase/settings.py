"""The settings of an HBase that freshet starts."""

from __future__ import annotations

from xml.sax.saxutils import escape

from freshet.dev.hbase.files import LOG, ZNODE, Place, State

_CACHED, _NOT_FLUSHED = 0.3, 0.2  # of the heap, over all region servers
# Where its files are deleted under it, HBase says so for ever, in 100 MB a second (HBase 2.4, from its 15th minute on).
_LOG_MB = 16
_LOG4J = f"""\
# WARN for the libraries: the log is for whoever asks why HBase did not start.
status = off
rootLogger.level = warn
rootLogger.appenderRef.log.ref = log
logger.hbase.name = org.apache.hadoop.hbase
logger.hbase.level = info
appender.log.type = RollingFile
appender.log.name = log
appender.log.fileName = {LOG}
appender.log.filePattern = {LOG}.%i
appender.log.policies.type = Policies
appender.log.policies.size.type = SizeBasedTriggeringPolicy
appender.log.policies.size.size = {_LOG_MB}MB
appender.log.strategy.type = DefaultRolloverStrategy
appender.log.strategy.max = 1
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


def write_settings(place: Place, state: State) -> None:
    """Write ``hbase-site.xml`` and the log's settings."""
    place.conf.mkdir(exist_ok=True)
    (place.conf / "hbase-site.xml").write_text(hbase_site(place, state), encoding="utf-8")
    (place.conf / "log4j2.properties").write_text(_LOG4J, encoding="utf-8")


def hbase_site(place: Place, state: State) -> str:
    """Return the ``hbase-site.xml`` of the server."""
    count = str(state.region_servers)
    settings = {
        # Not as_uri(): Hadoop takes %20 for three characters of a name.
        "hbase.rootdir": f"file://{place.data / 'hbase'}",
        "hbase.zookeeper.property.dataDir": str(place.data / "zookeeper"),
        "hbase.tmp.dir": str(place.data / "tmp"),
        "hbase.cluster.distributed": "false",
        # A local file system cannot promise what HDFS can; kill -9 loses nothing that was flushed to it. Without Hadoop's
        # checksum files, which keep the last bytes of a flush back, and with larger reads: HFiles of a million keys are
        # loaded in 0.3 s, not 0.7; HBase has checksums of its own.
        "hbase.unsafe.stream.capability.enforce": "false",
        "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
        "io.file.buffer.size": "131072",
        "hbase.zookeeper.quorum": "127.0.0.1",
        "hbase.zookeeper.property.clientPort": str(state.port),
        "zookeeper.znode.parent": ZNODE,
        # Clients ask ZooKeeper for these, so that they may differ from start to start.
        "hbase.localcluster.assign.random.ports": "true",
        "hbase.master.info.port": "-1",
        "hbase.regionserver.info.port": "-1",
        "hbase.master.ipc.address": "127.0.0.1",
        "hbase.regionserver.ipc.address": "127.0.0.1",
        "hbase.master.hostname": "localhost",
        "hbase.regionserver.hostname": "localhost",
        # All of them are in this JVM: the master need not wait for others (4.5 s), nor they for its next look (3 s).
        "hbase.master.wait.on.regionservers.mintostart": count,
        "hbase.master.wait.on.regionservers.maxtostart": count,
        "hbase.regionserver.msginterval": "500",
        # Each would take two fifths of the heap for what it reads and as much for what it is given. Of a small heap too little
        # is left then, and of several servers in it nothing: it collected garbage most of the time.
        "hfile.block.cache.size": f"{_CACHED / state.region_servers:.3f}",
        "hbase.regionserver.global.memstore.size": f"{_NOT_FLUSHED / state.region_servers:.3f}",
    }
    lines = (f"  <property><name>{name}</name><value>{escape(value)}</value></property>\n" for name, value in settings.items())
    return f'<?xml version="1.0"?>\n<configuration>\n{"".join(lines)}</configuration>\n'
