"""The ``freshet`` command: a thin layer of options over the framework."""

from __future__ import annotations

import os
import sys

from freshet.cli import early

# The installed script imports this module first; of any other process the signals are not this module's.
if os.path.basename(sys.argv[0]) == "freshet":
    early.watch()

import errno
import importlib
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from freshet import __version__
from freshet.cli.early import imported, wants_json
from freshet.cli.output import Output, stdout_lost, usage
from freshet.errors import unforeseen
from freshet.hudi.keys.streamer_options import advice_for

# Each command's module is imported when it is called for: a tick must not pay for what it does not use.
_COMMANDS = {
    "init": "freshet.cli.init",
    "validate": "freshet.cli.files",
    "test": "freshet.cli.test",
    "compile": "freshet.cli.files",
    "schema": "freshet.cli.files",
    "explain": "freshet.cli.explain",
    "plan": "freshet.cli.plan",
    "run": "freshet.cli.run",
    "ingest": "freshet.cli.ingest",
    "connector": "freshet.cli.connector",
    "serve": "freshet.cli.serve",
    "backfill": "freshet.cli.backfill",
    "checks": "freshet.cli.checks",
    "quarantine": "freshet.cli.checks",
    "service": "freshet.cli.service",
    "index": "freshet.cli.index",
    "land": "freshet.cli.land",
    "migrate": "freshet.cli.migrate",
    "show": "freshet.cli.show",
    "preview": "freshet.cli.preview",
    "audit": "freshet.cli.audit",
    "status": "freshet.cli.status",
    "alerts": "freshet.cli.alerts",
    "history": "freshet.cli.history",
    "account": "freshet.cli.account",
    "dag": "freshet.cli.dag",
    "site": "freshet.cli.site",
    "checkpoint": "freshet.cli.state",
    "jars": "freshet.cli.jars",
    "dev": "freshet.cli.dev",
}


_WORDS = "freshet.words"


class _Commands(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        if sys.stderr is None:
            # click would say on stdout what is meant for it.
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        try:
            return super().main(*args, **extra)
        except SystemExit as ended:
            # A command has looked for itself: this is help.
            if sys.stdout is None and not ended.code:
                sys.exit(stdout_lost(OSError(errno.EBADF, "it is closed")))
            raise

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        words = tuple(args)
        try:
            context = super().make_context(info_name, args, parent, **extra)
        except click.ClickException as error:
            _refuse(words, error)
        except OSError as error:
            # Its own help is printed here; click would answer a reader that left with 1.
            sys.exit(stdout_lost(error))
        context.meta[_WORDS] = words
        return context

    def invoke(self, ctx: click.Context) -> Any:
        words = ctx.meta[_WORDS]
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            _refuse(words, error)
        except click.exceptions.Exit:
            raise
        except Exception as error:  # of a command that cannot even be imported
            if isinstance(error, OSError) and error.filename is None:
                # Of a stream, not of a file: its help.
                ctx.exit(stdout_lost(error))
            found = unforeseen(error)
            Output(wants_json(words)).error(found)
            ctx.exit(found.exit_code)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def resolve_command(
        self,
        ctx: click.Context,
        args: list[str],
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            # click knows the commands that are imported, and these are imported when they are called for.
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=list(_COMMANDS), ctx=ctx) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        name = "compile_" if cmd_name == "compile" else cmd_name
        command: click.Command = getattr(importlib.import_module(_COMMANDS[cmd_name]), name)
        imported()
        return command


def _refuse(words: Sequence[str], error: click.ClickException) -> NoReturn:
    answered = _answered(error)
    if not usage(words, answered):
        sys.exit(answered.exit_code)
    # click prints it on stderr and ends with its code.
    raise answered from None


def _answered(error: click.ClickException) -> click.ClickException:
    advice = advice_for(error.option_name) if isinstance(error, click.NoSuchOption) else ""
    return click.UsageError(f"{error.format_message()} {advice}", error.ctx) if advice else error  # type: ignore[attr-defined]


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="freshet")
def main() -> None:
    """Incremental ETL on Apache Hudi: a DDL, a YAML and a SQL or Python transformer become an upserted table.

    \b
    Examples:
      freshet init my_project              a project that runs
      freshet validate                     every problem of every file, with its place
      freshet plan trip_earnings           what the next run will read and write
      freshet run --all                    every pipeline, upstream first
      freshet backfill driver_daily_earnings --start 2026-01-01 --end 2026-02-01
      freshet status                       where every pipeline stands

    \b
    Exit codes: 0 done or nothing to do, 1 failed, 2 wrong command line, 3 wrong files,
    4 try again (another run, a conflict), 5 the tables forbid it, 6 the data or the SQL is wrong,
    7 a check failed, 8 a catalogue was not told, 129 hung up, 130 interrupted, 141 the reader of stdout is gone,
    143 terminated.

    \b
    FRESHET_DEBUG=1 adds tracebacks to errors, FRESHET_ENV names the environment, FRESHET_CACHE the folder of the
    jars, FRESHET_JVM_LOG=warn shows what Spark and Hudi log.
    """
