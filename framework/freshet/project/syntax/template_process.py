"""The process that renders templates: started at the first that needs Jinja, asked over a pipe, ended with this one."""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from importlib import resources
from typing import IO, Any, cast

# On a machine that is stopped or swaps; a template that works too much is stopped by its own process long before.
_PATIENCE_SECONDS = 60.0
# A text, so that it runs from a zip, too; without Python's site, which would cost half of the start.
_START = """import sys
sys.path[:] = {path!r}
exec(compile({program!r}, "template_sandbox.py", "exec"), {{"__name__": "__main__"}})
"""


class TemplateProcess:
    """A child process with limits of memory and time, begun anew where a template has ended it."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._turn = threading.Lock()

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Render a template.

        Args:
            request: What ``template_sandbox.rendered`` takes.

        Returns:
            What it returns; ``TEMPLATE_UNSAFE`` where the template has ended the process.
        """
        with self._turn:
            child = self._child
            # After a fork the pipe is the parent's; an idle child may have been ended by the machine.
            if child is None or self._owner != os.getpid() or child.poll() is not None:
                child = self._start()
            try:
                return self._answer(child, json.dumps(request).encode() + b"\n")
            except (OSError, ValueError):
                self.end()
                return {"error": "TEMPLATE_UNSAFE", "line": 1, "message": "it takes too much time or memory"}

    def end(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None and self._owner == os.getpid():
            child.kill()
            child.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        program = resources.files("freshet.project.syntax").joinpath("template_sandbox.py").read_text(encoding="utf-8")
        text = _START.format(path=sys.path, program=program)
        self._owner = os.getpid()
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", text],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self._child

    @staticmethod
    def _answer(child: subprocess.Popen[bytes], question: bytes) -> dict[str, Any]:
        asked, answers = cast("IO[bytes]", child.stdin), cast("IO[bytes]", child.stdout)
        asked.write(question)
        asked.flush()
        if not select.select([answers], [], [], _PATIENCE_SECONDS)[0]:
            raise OSError("no answer")
        line = answers.readline()
        if not line.endswith(b"\n"):
            raise OSError("ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


#: The process's own; whatever renders asks it.
PROCESS = TemplateProcess()
atexit.register(PROCESS.end)
