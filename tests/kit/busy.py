"""Run a command several times beside as many busy processes as there are cores: what needs a quiet machine fails.

python -m tests.kit.busy TIMES COMMAND...
"""

from __future__ import annotations

import os
import subprocess
import sys


def main(times: int, command: list[str]) -> int:
    """Return the exit code of the first run that fails, or 0."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        for number in range(times):
            print(f"run {number + 1} of {times}, beside {len(spinning)} busy processes", flush=True)
            code = subprocess.run(command, check=False).returncode
            if code:
                return code
        return 0
    finally:
        for process in spinning:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
