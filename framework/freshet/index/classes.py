"""freshet's own few Java classes: compiled once by the compiler inside Spark, kept in the cache, given to driver and executors.

Index entries go between Spark and HBase by the HBase client inside Hudi's bundle, which no Python can call row by row.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path
from threading import Lock
from typing import Any

from pyspark.sql import SparkSession

from freshet.cache import cache_dir

_SOURCES = Path(__file__).with_name("java")
# In the order in which they need each other.
_CLASSES = ("CellComparatorImpl", "Cluster", "Entries", "Requests", "Texts", "Moves", "Paced", "Records")
# Several pipelines may run at a time.
_LOADING = Lock()


def load_classes(spark: SparkSession) -> Any:
    """Make freshet's Java classes known to the running application.

    Args:
        spark: The session.

    Returns:
        The Java package that holds them.
    """
    with _LOADING:
        return _load(spark)


def _load(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    jar = _jar(jvm, spark.version)
    loader = jvm.Thread.currentThread().getContextClassLoader()
    hudis = loader.loadClass("org.apache.hudi.index.HoodieIndex").getClassLoader()
    if not hudis.equals(loader):
        # With an archive of classes Hudi comes from Java's own class path, and looks for an index by its name there.
        _define(spark, hudis, jar)
        return jvm.freshet.index
    url = jvm.java.io.File(str(jar)).toURI().toURL()
    if url.toString() not in {known.toString() for known in loader.getURLs()}:
        loader.addURL(url)
        spark.sparkContext._jsc.addJar(str(jar))
    return jvm.freshet.index


def _define(spark: SparkSession, loader: Any, jar: Path) -> None:
    """Give a class loader classes that its class path lacks; Spark opens ``java.lang`` for such."""
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    known = jvm.java.lang.Class.forName("java.lang.ClassLoader")
    find = gateway.new_array(jvm.java.lang.Class, 1)
    find[0] = jvm.java.lang.Class.forName("java.lang.String")
    loaded = _method(known, "findLoadedClass", find)
    parameters = gateway.new_array(jvm.java.lang.Class, 4)
    for place, name in enumerate(("java.lang.String", "[B")):
        parameters[place] = jvm.java.lang.Class.forName(name)
    parameters[2] = parameters[3] = jvm.java.lang.Integer.TYPE
    define = _method(known, "defineClass", parameters)
    with zipfile.ZipFile(jar) as classes:
        for file in classes.namelist():
            name, content = file.removesuffix(".class").replace("/", "."), classes.read(file)
            asked = gateway.new_array(jvm.java.lang.Object, 1)
            asked[0] = name
            if loaded.invoke(loader, asked) is not None:
                continue
            given = gateway.new_array(jvm.java.lang.Object, 4)
            given[0], given[1], given[2], given[3] = name, content, 0, len(content)
            define.invoke(loader, given)


def _method(owner: Any, name: str, parameters: Any) -> Any:
    found = owner.getDeclaredMethod(name, parameters)
    found.setAccessible(True)
    return found


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
