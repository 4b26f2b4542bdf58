"""A Spark standalone cluster on this machine, started with PySpark's own classes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from freshet.jvm.java import find_java_home, java_command

#: Of processes that end before the optimising compiler and collectors in threads earn back what they take.
SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def pyspark_home() -> Path:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@contextmanager
def spark_cluster(folder: Path, workers: int = 2, memory: str = "1g") -> Iterator[str]:
    """Start a master and workers of one core each; give the master's address, and end them by their process ids.

    Args:
        folder: For their logs and working folders.
        workers: How many.
        memory: What each offers to executors.
    """
    port = free_port()
    java = [str(java_command(find_java_home())), "-Xmx256m", *SMALL.split(), "-cp", f"{pyspark_home()}/jars/*"]
    # What PySpark's own scripts set before they start these classes; without the Scala version no executor starts.
    environment = {
        **os.environ,
        "SPARK_SCALA_VERSION": "2.12",
        "SPARK_HOME": str(pyspark_home()),
        "JAVA_HOME": str(find_java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    deploy = "org.apache.spark.deploy"
    local = ["--host", "127.0.0.1", "--webui-port", "0"]
    worker = [*java, f"{deploy}.worker.Worker", *local, "--cores", "1", "--memory", memory]
    commands = [[*java, f"{deploy}.master.Master", *local, "--port", str(port)]]
    address = f"spark://127.0.0.1:{port}"
    commands += [[*worker, "--work-dir", str(folder / f"work{number}"), address] for number in range(workers)]
    log = folder / "cluster.log"
    processes = []
    try:
        with open(log, "w", encoding="utf-8") as out:
            processes.extend(
                subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=folder) for command in commands
            )
        deadline = time.monotonic() + 60
        while log.read_text().count("Successfully registered with master") < workers:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield address
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(timeout=30)


def settings(master: str) -> list[str]:
    """Return the words that send a command to the cluster."""
    conf = {
        "spark.master": master,
        "spark.executor.memory": "700m",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": SMALL,
        "spark.cores.max": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
    }
    return [word for key, value in conf.items() for word in ("--set", f"{key}={value}")]
