"""One task: a freshet command in a process of its own, whose exit code says whether another attempt can help."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from threading import Thread
from typing import IO, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException

# How long a run that is asked to end may take to do so: it undoes what it has begun.
_PATIENCE_SECONDS = 60


class FreshetOperator(BaseOperator):  # type: ignore[misc]
    """Runs a command of freshet, such as ``run NAME``.

    Args:
        arguments: The command's words, without the program; templates are rendered.
        project_dir: The project's folder.
        env: The environment; empty for the project's default.
        freshet: The program's words; a path where another environment has freshet.
        repeat_on: Exit codes after which Airflow tries again, as often as ``retries`` says; another one fails the task at once.
        variables: Added to the process's environment.
        **more: What every operator takes.
    """

    template_fields: Sequence[str] = ("arguments",)
    ui_color = "#d8ecf3"

    def __init__(
        self,
        *,
        arguments: Sequence[str],
        project_dir: str,
        env: str = "",
        freshet: Sequence[str] = ("freshet",),
        repeat_on: Sequence[int] = (4,),
        variables: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.arguments, self.project_dir, self.env = list(arguments), project_dir, env
        self.freshet, self.repeat_on, self.variables = list(freshet), list(repeat_on), dict(variables or {})
        self._process: subprocess.Popen[str] | None = None

    def execute(self, context: Any) -> Any:
        """Run the command; returns its JSON document."""
        command = [*self.freshet, *self.arguments, "--project", self.project_dir, "--output", "json"]
        command += ["--env", self.env] if self.env else []
        self.log.info("running: %s", " ".join(command))
        process = self._process = subprocess.Popen(
            command,
            env={**os.environ, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        listener = Thread(target=self._tell, args=(process.stderr,), daemon=True)
        listener.start()
        said = process.stdout.read()
        code = process.wait()
        listener.join(10)
        found = _parsed(said)
        if code == 0:
            return found
        message = f"freshet {' '.join(self.arguments)} ended with {code}: {_message(found, said)}"
        # A process that a signal ended by itself has minus its number.
        if (128 - code if code < 0 else code) in self.repeat_on:
            raise AirflowException(message)
        raise AirflowFailException(message)

    def on_kill(self) -> None:
        """Ask the run to end, which leaves the table as it was, and end it where it does not."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)

    def _tell(self, lines: IO[str]) -> None:
        for line in lines:
            self.log.info("%s", line.rstrip())


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _message(found: Any, text: str) -> str:
    errors = []
    if isinstance(found, dict):
        errors = [found.get("error"), *(one.get("error") for one in found.get("runs", ()) if isinstance(one, dict))]
    said = [f"{one.get('code')}: {one.get('message')}" for one in errors if isinstance(one, dict)]
    return "; ".join(dict.fromkeys(said)) or text.strip()[-500:] or "it said nothing"
