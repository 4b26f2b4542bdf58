"""freshet's own few Java classes: compiled once by the compiler inside Spark, kept in the cache, given to driver and executors.

Index entries go between Spark and HBase by the HBase client inside Hudi's bundle, which no Python can call row by row.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from framework.spec.paths import cache_dir

_SOURCES = Path(__file__).with_name("java")
# In the order in which they need each other.
_CLASSES = ("CellComparatorImpl", "Cluster", "Entries", "Requests", "Texts", "Paced")


def load_classes(spark: SparkSession) -> Any:
    """Make freshet's Java classes known to the running application.

    Args:
        spark: The session.

    Returns:
        The Java package that holds them.
    """
    jvm: Any = spark._jvm
    jar = _jar(jvm, spark.version)
    loader = jvm.Thread.currentThread().getContextClassLoader()
    url = jvm.java.io.File(str(jar)).toURI().toURL()
    if url.toString() not in {known.toString() for known in loader.getURLs()}:
        loader.addURL(url)
        spark.sparkContext._jsc.addJar(str(jar))
    return jvm.freshet.index


def _jar(jvm: Any, spark_version: str) -> Path:
    texts = [(_SOURCES / f"{name}.java").read_text("utf-8") for name in _CLASSES]
    key = hashlib.sha256("\0".join((spark_version, *texts)).encode()).hexdigest()[:16]
    jar = cache_dir() / "index" / f"freshet-index-{key}.jar"
    if not jar.is_file():
        jar.parent.mkdir(parents=True, exist_ok=True)
        unfinished = jar.with_suffix(f".{os.getpid()}.tmp")
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as out:
            for name, content in _compiled(jvm, texts).items():
                out.writestr(name.replace(".", "/") + ".class", content)
        os.replace(unfinished, jar)
    return jar


def _compiled(jvm: Any, texts: list[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    parent = jvm.Thread.currentThread().getContextClassLoader()
    for text in texts:
        # Janino, which Spark ships to compile its own queries: a machine may have a Java without a compiler.
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(parent)
        compiler.cook(text)
        codes = compiler.getBytecodes()
        found |= {str(name): bytes(codes[name]) for name in codes}
        parent = compiler.getClassLoader()
    return found
