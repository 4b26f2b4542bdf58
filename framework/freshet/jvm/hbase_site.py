"""The settings of the HBase client inside Hudi's bundle, which it reads from a file alone: ``hbase-site.xml``."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from freshet.cache import cache_dir
from freshet.hudi.keys.options import HBASE_IN_SESSION

_HEAD = "spark.hadoop."
_DRIVER, _EXECUTOR, _FILES = "spark.driver.extraClassPath", "spark.executor.extraClassPath", "spark.files"
_DEFAULTS = {
    # The bundle's client names a codec class of its own, which no server has: every call would hang for minutes. Hadoop
    # drops an empty value, so this is empty by way of a variable that nobody sets.
    "hbase.client.default.rpc.codec": "${env.FRESHET_NO_CODEC:-}",
    # This file hides the bundle's own, which holds the version that the client compares itself with.
    "hbase.defaults.for.version.skip": "true",
    # By default a cluster that is gone is noticed after minutes.
    "hbase.client.retries.number": "4",
    "hbase.client.pause": "100",
    "zookeeper.recovery.retry": "2",
    # Region servers on other machines are never local to where HFiles are written here, and asking may hang.
    "hbase.bulkload.locality.sensitive.enabled": "false",
}


def with_hbase_site(conf: Mapping[str, str], archived: bool) -> dict[str, str]:
    """Return the settings of a session that finds HBase's client settings, where one of its pipelines has an HBASE index.

    Args:
        conf: The ``spark:`` settings; those that begin with ``spark.hadoop.hbase.`` or ``spark.hadoop.zookeeper.`` are the
            client's too, and win.
        archived: True where Java's class path begins as that of the archive of classes does, with ``site_jar`` on it.
    """
    found = dict(conf)
    own = {
        key.removeprefix(_HEAD): value
        for key, value in conf.items()
        if key.startswith((f"{_HEAD}hbase.", f"{_HEAD}zookeeper."))
    }
    # The mark stays: by it the next pipeline sees that the running application has what it needs.
    if not found.get(HBASE_IN_SESSION) or (archived and not own):
        return found
    text = _text({**_DEFAULTS, **own})
    # One folder for each content, because another session may be reading its own.
    folder = cache_dir() / "hbase-site" / hashlib.sha256(text.encode()).hexdigest()[:16]
    file = folder / "hbase-site.xml"
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f".{os.getpid()}.tmp"
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, file)
    # Before the bundle, which has such a file of its own. An executor gets it into its working folder.
    found[_DRIVER] = ":".join(part for part in (str(folder), conf.get(_DRIVER, "")) if part)
    found[_EXECUTOR] = ":".join(part for part in (".", conf.get(_EXECUTOR, "")) if part)
    found[_FILES] = ",".join(part for part in (str(file), conf.get(_FILES, "")) if part)
    return found


def site_jar() -> Path:
    """Return a jar with the settings that a project adds nothing to: Java takes no folder before an archive of classes."""
    text = _text(_DEFAULTS)
    jar = cache_dir() / "hbase-site" / f"hbase-site-{hashlib.sha256(text.encode()).hexdigest()[:16]}.jar"
    if not jar.is_file():
        jar.parent.mkdir(parents=True, exist_ok=True)
        unfinished = jar.with_suffix(f".{os.getpid()}.tmp")
        with zipfile.ZipFile(unfinished, "w") as out:
            out.writestr("hbase-site.xml", text)
        os.replace(unfinished, jar)
    return jar


def _text(settings: Mapping[str, str]) -> str:
    lines = "".join(
        f"  <property><name>{escape(key)}</name><value>{escape(value)}</value></property>\n"
        for key, value in sorted(settings.items())
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{lines}</configuration>\n'
