"""``freshet jars``: the pinned jars that Spark, a source and the servers of ``freshet dev`` need."""

from __future__ import annotations

from collections.abc import Callable

import click

from freshet.cli.board import size
from freshet.cli.output import Output, reporting
from freshet.cli.progress import progress
from freshet.errors import Exit
from freshet.events.kinds import Phase
from freshet.jvm.ivy import JarError, maven_paths
from freshet.jvm.jars import (
    AVRO_JARS,
    HBASE_JARS,
    KAFKA_SERVER_JARS,
    KAFKA_SOURCE_JARS,
    SPARK_JARS,
    Found,
    JarSet,
    declared_jars,
    jar_dir,
    look_at_jars,
    missing_jars,
    resolve_jars,
    sums_of,
)
from freshet.sources.hudi.reads import counted


def _which(command: Callable[..., Exit]) -> Callable[..., Exit]:
    """Add the options that name another set than Spark's; of several the last one counts."""
    for name, words in (
        ("kafka", "The jars of `freshet dev kafka`, instead of Spark's."),
        ("hbase", "The jars of `freshet dev hbase`, instead of Spark's."),
        ("kafka-source", "The jars that a pipeline needs besides Spark's that reads Kafka."),
        ("avro", "The jar that a pipeline needs besides those whose records are Avro."),
    ):
        command = click.option(f"--{name}", "which", flag_value=name, help=words)(command)
    return command


def _set_of(which: str | None) -> JarSet:
    # Looked up when it is asked for.
    sets = {"hbase": HBASE_JARS, "kafka": KAFKA_SERVER_JARS, "kafka-source": KAFKA_SOURCE_JARS, "avro": AVRO_JARS}
    return sets.get(which or "", SPARK_JARS)


@click.group(short_help="Fetch and check the jars that Spark needs.")
def jars() -> None:
    """Fetch and check the jars that Spark needs besides its own: Hudi's, and for pipelines that read Kafka those of its source.

    Those whose records are Avro need its decoder, too. Versions and SHA-256 are pinned. A run fetches what is missing by
    itself; these commands are for images, for machines without a network, and for spark-submit. The jars are kept in the
    folder jars of FRESHET_CACHE, by default ~/.cache/freshet/jars. FRESHET_IVY_SETTINGS names an Ivy settings file, for a
    mirror of your own.

    \b
    Examples:
      freshet jars fetch
      freshet jars path
      freshet jars verify
    """


@jars.command()
@_which
@reporting
def fetch(output: Output, which: str | None) -> Exit:
    """Fetch the jars that are missing, and check the SHA-256 of all.

    All that are missing are kept, or none. Where one cannot be downloaded, the error names the files to bring by hand, their
    SHA-256 and the folder.

    \b
    Examples:
      freshet jars fetch
      freshet jars fetch --hbase           those of freshet dev hbase
      freshet jars fetch --kafka-source    those of pipelines that read Kafka
      FRESHET_CACHE=/tmp/bring freshet jars fetch --output json
    """
    wanted = _set_of(which)
    missing = {jar.name for jar in missing_jars(wanted)}
    with progress(output) as listen:
        if missing:
            listen(Phase(pipeline="jars", message=f"fetching {counted(len(missing), 'jar')} into {jar_dir()}"))
        paths = resolve_jars(wanted)
    fetched = sum(path.stat().st_size for path in paths if path.name in missing)
    done = f"fetched {counted(len(missing), 'jar')} ({size(fetched)})" if missing else "nothing to fetch"
    output.result(
        f"{done}; all {len(paths)} are in {jar_dir()}, and are the pinned ones",
        {
            "directory": str(jar_dir()),
            "fetched": sorted(missing),
            "jars": [
                {"name": jar.name, "path": str(path), "sha256": jar.sha256, "bytes": path.stat().st_size}
                for jar, path in zip(declared_jars(wanted), paths, strict=True)
            ],
        },
    )
    return Exit.OK


@jars.command()
@_which
@reporting
def path(output: Output, which: str | None) -> Exit:
    """Print the paths of the jars, one a line; fetch nothing.

    Where one is missing or altered, no path is printed, and it ends with 1.

    \b
    Examples:
      freshet jars path
      freshet jars path --output json
      spark-submit --jars "$(freshet jars path | paste -sd,)" job.py
    """
    wanted = _set_of(which)
    missing = missing_jars(wanted)
    if missing:
        raise JarError(
            "JAR_MISSING",
            f"{', '.join(jar.name for jar in missing)}: not in {jar_dir()}.",
            "Nothing was fetched.",
            _fetch_command(which),
            jar=missing[0].name,
            directory=str(jar_dir()),
            jars=[vars(jar) for jar in missing],
        )
    paths = list(map(str, resolve_jars(wanted)))
    if output.as_json:
        output.result("", {"directory": str(jar_dir()), "paths": paths})
    else:
        # Whole, however wide the terminal is.
        output.document("\n".join(paths))
    return Exit.OK


@jars.command()
@_which
@reporting
def verify(output: Output, which: str | None) -> Exit:
    """Check that all jars are there and unaltered; name each that is missing or altered.

    Every file is read and its SHA-256 compared; no Java starts and nothing is fetched. Ends with 0 where all are as pinned,
    and with 1 otherwise.

    \b
    Examples:
      freshet jars verify
      freshet jars verify --hbase
      freshet jars verify --output json
    """
    wanted = _set_of(which)
    found, places = look_at_jars(wanted), maven_paths(wanted.ivy)
    bad = [one for one in found if one.state != "ok"]
    output.result(
        "\n".join([f"{jar_dir()}:", *(f"  {one.state:<8} {one.jar.name}" for one in found)]),
        {
            "directory": str(jar_dir()),
            "next": _fetch_command(which) if bad else "",
            "missing": _names(found, "missing"),
            "altered": _names(found, "altered"),
            "jars": [
                {
                    "name": one.jar.name,
                    "path": str(one.path),
                    "state": one.state,
                    "sha256": one.sha256 or None,
                    "expected": one.jar.sha256,
                    "maven_path": places[one.jar.name],
                }
                for one in found
            ],
        },
    )
    if not bad:
        return Exit.OK
    for one in bad:
        if one.state == "altered":
            output.aside(
                str(JarError("JAR_ALTERED", f"{one.jar.name} has the SHA-256 {one.sha256}.", f"Remove it: rm {one.path}"))
            )
    output.aside(f"{_fetch_command(which)} fetches what is missing. Without a network, bring these files into {jar_dir()}:")
    output.aside(sums_of(one.jar for one in bad))
    output.aside("\n".join(["A Maven repository has them at:", *(f"  {places[one.jar.name]}" for one in bad)]))
    return Exit.FAILED


def _fetch_command(which: str | None) -> str:
    return "freshet jars fetch" + (f" --{which}" if which else "")


def _names(found: tuple[Found, ...], state: str) -> list[str]:
    return [one.jar.name for one in found if one.state == state]
