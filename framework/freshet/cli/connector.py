"""``freshet connector``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import click

from freshet.cli.output import Output, reporting
from freshet.connect.check import check as wrong_with
from freshet.connect.check import sorted_out
from freshet.connect.file import ConnectorFile, read_connector
from freshet.connect.rest import Connect
from freshet.connect.wrong import Wrong
from freshet.errors import Exit, Problem, SpecError


@click.group(short_help="Check the config of a Debezium connector.")
def connector() -> None:
    """Check the configs of connectors that capture a database's changes into topics: Debezium on Kafka Connect.

    `freshet init --from ADDRESS --connector HOST:PORT` writes one, with the pipelines that read its topics.

    \b
    Examples:
      freshet connector check configs/connectors/shop.json
    """


def _address(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise click.BadParameter("write http://HOST:PORT or https://HOST:PORT, without a password.")
    return value


@connector.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--connect",
    "url",
    default=None,
    metavar="URL",
    callback=_address,
    help="The Kafka Connect that validates the config, too.",
)
@reporting
def check(output: Output, file: Path, url: str | None) -> Exit:
    """Check that what a connector writes can be read as a changelog, and holds every change.

    Each setting by which changes, rows or digits would be lost, or which the adapter does not read right, is named with what
    to write instead; so is a setting that is missing, and a password that stands in the file. Then what pipelines have to
    declare is told. A Kafka Connect validates the config by its own rules, and Debezium asks the database by it: whether it
    is there, lets the user in, and keeps its log. Nothing is written anywhere.

    Ends with 0 where nothing has to be changed, and with 3 otherwise.

    \b
    Examples:
      freshet connector check configs/connectors/shop.json
      freshet connector check shop.json --connect http://connect-1:8083 --output json
    """
    found = read_connector(file)
    checked = sorted_out(wrong_with(found.config))
    if checked.wrong:
        raise SpecError(_problems(found, checked.wrong))
    if url:
        refused = _complaints(found, Connect(url))
        if refused:
            raise SpecError(_problems(found, refused))
    by = f"Kafka Connect at {url} takes it" if url else "no Kafka Connect was asked: name one by --connect URL"
    lines = [f"{found.path}: its messages can be read, and hold every change; {by}"]
    lines += [f"  {one.said} {one.write}" for one in checked.declare]
    output.result(
        "\n".join(lines),
        {
            "file": found.path,
            "connector": found.name,
            "connect": url,
            "declare": [{"key": one.key, "message": one.said, "hint": one.write} for one in checked.declare],
        },
    )
    return Exit.OK


def _complaints(found: ConnectorFile, connect: Connect) -> list[Wrong]:
    kind = found.config["connector.class"]
    there = connect.plugins()
    if kind not in there:
        debezium = ", ".join(name for name in there if name.startswith("io.debezium.")) or "none of Debezium's"
        said = f"Kafka Connect at {connect.url} does not have {kind}."
        return [
            Wrong(key="connector.class", code="CONNECTOR_UNKNOWN", said=said, write=f"Install it there. It has: {debezium}.")
        ]
    told = connect.complaints({**found.config, "name": found.name})
    return [
        Wrong(key=key, code="CONNECTOR_INVALID", said=f"{key}: {one.rstrip('.')}.", write="Change it as Kafka Connect says.")
        for key, said in told.items()
        for one in said
    ]


def _problems(found: ConnectorFile, wrong: Iterable[Wrong]) -> list[Problem]:
    return [found.problem(one) for one in wrong]
