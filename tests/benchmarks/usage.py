"""Run a process and say what it and all its descendants used: wall time, CPU, memory over time, bytes."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.timing import ROOT, failed

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Usage:
    """What a command used, driver, executors and children together.

    Args:
        wall_seconds: From its start to its end.
        cpu_seconds: User and system time.
        peak_gib: Largest resident memory at one moment.
        gib_seconds: Resident memory summed over time.
        read_gib: Bytes that it read by system calls, from disk or from the system's cache.
        written_gib: Bytes that it wrote.
        output: Its stdout.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_gib: float
    gib_seconds: float
    read_gib: float
    written_gib: float
    output: str


def as_json(found: Mapping[str, Sequence[Usage]]) -> dict[str, list[dict[str, float]]]:
    """Return usages by name as numbers, without what the commands printed."""
    return {
        name: [{k: v for k, v in vars(usage).items() if k != "output"} for usage in usages] for name, usages in found.items()
    }


def used(command: Sequence[str]) -> Usage:
    """Run a command from the repository's root, in a session of its own, and watch it.

    Raises:
        RuntimeError: It failed; the message ends with its stderr.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    meter = _Meter(process.pid)
    watcher = threading.Thread(target=meter.watch, daemon=True)
    watcher.start()
    output, errors = process.communicate()
    wall = time.perf_counter() - start
    meter.ended.set()
    watcher.join()
    if process.returncode:
        raise failed(command, process.returncode, errors)
    gib = float(2**30)
    return Usage(
        wall,
        sum(meter.cpu.values()),
        meter.peak / gib,
        meter.byte_seconds / gib,
        sum(read for read, _ in meter.io.values()) / gib,
        sum(written for _, written in meter.io.values()) / gib,
        output,
    )


class _Meter:
    def __init__(self, session: int) -> None:
        self.session = session
        self.ended = threading.Event()
        self.cpu: dict[int, float] = {}
        self.io: dict[int, tuple[int, int]] = {}
        self.peak = 0
        self.byte_seconds = 0.0

    def watch(self) -> None:
        last = time.perf_counter()
        while not self.ended.wait(_POLL_SECONDS):
            resident = sum(self._look(int(entry)) for entry in os.listdir("/proc") if entry.isdigit())
            now = time.perf_counter()
            self.peak = max(self.peak, resident)
            self.byte_seconds += resident * (now - last)
            last = now

    def _look(self, pid: int) -> int:
        """Take one process's figures, where it is of the session; returns its resident bytes."""
        try:
            # The name in parentheses may hold spaces; after it come state, parent, group, session ...
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) != self.session:
                return 0
            # A process that Java starts stands for a moment with all of Java's memory, and has none of its own.
            settled = pid in self.cpu
            self.cpu[pid] = (int(fields[11]) + int(fields[12])) / _TICKS
            io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
            self.io[pid] = int(io["rchar"]), int(io["wchar"])
            return int(fields[21]) * _PAGE if settled else 0
        except (OSError, ValueError, KeyError):
            return 0  # it has just ended
