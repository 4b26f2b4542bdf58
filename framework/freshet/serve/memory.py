"""How much memory a process uses, and how much there is, as Linux tells; nothing elsewhere."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path


def memory_of(pid: int | None) -> int | None:
    """Return the bytes of a process's memory that are in use; None where the system does not tell.

    Args:
        pid: The process; None for this one.
    """
    try:
        pages = int(Path(f"/proc/{'self' if pid is None else pid}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * resource.getpagesize()


def memory_limit() -> int | None:
    """Return how much memory this process and its children may use: the container's, else the machine's; None if unknown."""
    found = []
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            # "max" is no number, and means none.
            found.append(int(Path(file).read_text("ascii")))
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal:")]
    return min(found, default=None)
