"""``freshet serve``: run pipelines when they are due, in one process that stays."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from freshet.cli.board import LAST
from freshet.cli.early import SIGNALS, stopping
from freshet.cli.options import project_options, selection_options
from freshet.cli.output import Output, message
from freshet.cli.progress import reporting_events
from freshet.cli.serve_token import TOKEN, read_token
from freshet.cli.signals import PUBLISHED, UNFINISHED
from freshet.errors import Exit
from freshet.events.bus import Bus
from freshet.events.event import Event, Listener
from freshet.events.kinds import Phase
from freshet.project.shape.strategies import seconds_of
from freshet.run.several import PARALLEL
from freshet.sources.hudi.reads import counted

DEFAULT_PORT = 8340
_SIZES = {"MB": 10**6, "GB": 10**9}
_NAMED_COMMITS = 3
# Each of these comes with every run, and says what its end says again.
_QUIET = ("phase", "done", "idle", "chunk")


def _duration(_: click.Context, __: click.Parameter, value: str) -> int:
    found = seconds_of(value)
    if found is None:
        raise click.BadParameter("a duration is a number and s, m, h, d or w, as 2m.")
    return found


def _size(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    number, unit = value[:-2], value[-2:].upper()
    if unit not in _SIZES or not number.isascii() or not number.isdecimal() or int(number[:9]) < 1:
        raise click.BadParameter("a size is a number and MB or GB, as 4GB.")
    return int(number[:9]) * _SIZES[unit]


def _names(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    from freshet.serve.names import plain_name

    if any(plain_name(one) is None for one in value):
        raise click.BadParameter("a name is such as lake.example.com, without a port.")
    return value


@click.command(short_help="Run pipelines when they are due, in one process that stays.")
@selection_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address that HTTP listens on.")
@click.option("--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="Port; 0 for a free one.")
@click.option(
    "--allow-host",
    multiple=True,
    callback=_names,
    metavar="NAME",
    help="Name by which it may be asked, such as a reverse proxy's; repeatable. By addresses and by localhost it may anyway.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    default=None,
    help=f"File with the token that writing calls must carry.  [default: {TOKEN}, or no writing calls]",
)
@click.option(
    "--parallel",
    type=click.IntRange(min=1),
    default=PARALLEL,
    show_default=True,
    metavar="N",
    help="How many pipelines may run at a time.",
)
@click.option(
    "--grace",
    default="2m",
    show_default=True,
    callback=_duration,
    metavar="DURATION",
    help="So long runs may go on when the process is told to stop.",
)
@click.option(
    "--max-memory",
    default=None,
    callback=_size,
    metavar="SIZE",
    help="Start Spark anew, between runs, when the process and its JVM use more.  [default: three quarters of what there is]",
)
@click.option(
    "--rows",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    metavar="N",
    help="So many rows of each quarantine are on its pipeline's page, for all who may ask for it.",
)
@project_options
@reporting_events
def serve(
    output: Output,
    names: tuple[str, ...],
    tags: tuple[str, ...],
    everything: bool,
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    token_file: Path | None,
    parallel: int,
    grace: int,
    max_memory: int | None,
    rows: int,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Run pipelines when they are due, until it is told to stop: by `schedule`, again and again where they are `continuous`,
    else after each commit of a pipeline whose target they read.

    A look whether something is new starts no Spark. Runs share one Spark session, which stays warm. What is due longest runs
    first; after failures a pipeline rests, up to an hour. Files that change are taken over once they are valid. SIGTERM and
    Ctrl-C let runs end, for as long as --grace says; a second one ends at once. All state is in the tables: after a kill the
    same command goes on where the last one was.

    HTTP has pages for people at /, and /metrics, /healthz, /readyz, /api/status, /api/runs and /api/plan/NAME; and, with the
    token, POST to /api/trigger/NAME, /api/pause/NAME and /api/resume/NAME. It is asked by its address, by localhost or by a
    name of --allow-host: a page of another site asks by that site's name, and gets nothing.

    \b
    Examples:
      freshet serve --all --env prod
      freshet serve --tag hourly --parallel 4 --port 9000
      freshet serve --all --host 0.0.0.0 --allow-host lake.example.com --token-file token
      FRESHET_SERVE_TOKEN=... freshet serve --all --events events.jsonl
      curl -X POST -H "Authorization: Bearer ..." http://127.0.0.1:8340/api/trigger/trip_earnings
    """
    if everything and (names or tags):
        raise click.UsageError("--all goes with neither names nor --tag.")
    if not (names or tags or everything):
        raise click.UsageError("Say which pipelines: names, --tag TAG or --all.")
    token = read_token(token_file)
    # Each of these imports what only a process that stays needs.
    from freshet.lineage.listener import Lineage
    from freshet.serve.access import Access
    from freshet.serve.api import answer
    from freshet.serve.desk import ServersDesk
    from freshet.serve.http import listen
    from freshet.serve.kept_log import KeptLog
    from freshet.serve.limits import Limits
    from freshet.serve.live import LivePages
    from freshet.serve.loading import Wanted, load_valid
    from freshet.serve.loop import Server
    from freshet.serve.names import own_names
    from freshet.serve.warm import Warm, most_memory

    wanted = Wanted(root=Path(os.path.realpath(root)), env=env, overrides=overrides, names=names, tags=tags)
    log = KeptLog()
    bus, beside = Bus(), Bus()
    listeners: dict[str, Listener] = {**output.listeners, "the log": _log, "the pages": log}
    for one in (bus, beside):
        for name, listener in listeners.items():
            one.subscribe(name, listener)
    limits = Limits(parallel=parallel, grace_seconds=grace)
    pages = LivePages(wanted, log.lines, rows)
    server = Server(
        wanted, load_valid(wanted), limits, bus.tell, Warm(most_memory(max_memory)), pages=pages, beside=beside.tell
    )
    for one in (bus, beside):
        Lineage().follow(one, lambda: server.loaded.project)
    desk = ServersDesk(server, bool(token))
    access = Access(names=own_names(host, allow_host), token=token)
    http = listen(host, port, lambda asked: answer(desk, access, asked))
    address = f"http://{f'[{host}]' if ':' in host else host}:{http.server_port}"
    desk.address = address
    with _stops(server.stop) as last:
        # Whoever reads it may stop the process at once, and in order.
        server.announce("SERVE_LISTENING", f"serves {counted(len(server.loaded.project.pipelines), 'pipeline')}; {address}")
        is_over = server.serve()
    http.shutdown()
    if not is_over:
        # As it ends any other command: it says what was published, and records what was not.
        os.kill(os.getpid(), last[-1])
    output.result(_ended(server.stopped_by, server.runs), {"stopped_by": server.stopped_by, "runs": server.runs})
    return Exit.OK


def _ended(stopped_by: str, runs: int) -> str:
    return f"stopped by {stopped_by}; {counted(runs, 'run')} {'has' if runs == 1 else 'have'} ended"


@contextmanager
def _stops(stop: Callable[[str], None]) -> Iterator[list[int]]:
    """Let signals stop the process in order within the block; yields those that came."""
    came: list[int] = []

    def answered(number: int, _: FrameType | None) -> None:
        came.append(number)
        stop(SIGNALS[number][1])

    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    before = {number: signal.signal(number, answered) for number in stopping()}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _log(event: Event) -> None:
    _note(event)
    if event.for_machines or event.name in _QUIET:
        return
    who = f"{event.pipeline}: " if event.pipeline else ""
    message(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(event.time))} {who}{event.message}")


def _note(event: Event) -> None:
    """Keep what a process that does not end in order has to say; not all of what it has done for weeks."""
    commits = event.fields.get("commits")
    if isinstance(commits, list):
        PUBLISHED.extend((event.pipeline, commit) for commit in commits)
        del PUBLISHED[:-_NAMED_COMMITS]
    if isinstance(event, Phase):
        UNFINISHED[event.pipeline] = event.message
    elif event.name in LAST:
        UNFINISHED.pop(event.pipeline, None)
