"""``freshet site``: the pages of a project and its environment, as files."""

from __future__ import annotations

from pathlib import Path

import click

from freshet.cli.options import load, project_options
from freshet.cli.output import Output, reporting
from freshet.errors import Exit
from freshet.project.model.pipeline import Project
from freshet.site.gather import gather
from freshet.site.log import read_log
from freshet.site.pages import pages
from freshet.site.write import write_pages
from freshet.sources.hudi.reads import counted


@click.command(short_help="Write pages about the project's pipelines.")
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("site"),
    show_default=True,
    help="Folder that the pages are written to: an empty one, a new one, or one that this command has written.",
)
@click.option(
    "--events",
    "logs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file that runs have written by their own --events: each run on the pages has its log; repeatable.",
)
@click.option(
    "--rows",
    type=click.IntRange(0, 100),
    default=0,
    show_default=True,
    metavar="N",
    help="So many rows of each quarantine are on its pipeline's page, for all who may read it.",
)
@project_options
@reporting
def site(
    output: Output,
    folder: Path,
    logs: tuple[Path, ...],
    rows: int,
    root: Path,
    env: str | None,
    overrides: tuple[str, ...],
) -> Exit:
    """Write pages about the project's pipelines: where each stands and what to do, the DAG, runs, backfills, services.

    They are plain files that need no server and nothing from elsewhere: open index.html, keep the folder as an artefact of a
    CI, or copy it to a bucket. A page of each pipeline has its plan, verdict, runs, checks, quarantine, checkpoint, columns
    with where they come from, and files. They show the moment at which they were written. A pipeline whose files are wrong
    has a page that says what is. Starts no Spark, and reads no row but those of --rows.

    \b
    Examples:
      freshet site
      freshet site --env prod --out /var/www/lake
      freshet site --events /var/log/freshet/events.jsonl
    """

    def of(names: tuple[str, ...]) -> Project:
        return load(root, env, overrides, names)

    facts = gather(of, root, env, overrides, log=read_log(logs), rows=rows)
    made = pages(facts)
    write_pages(folder, made)
    troubled = [one for one in facts.pipelines if one.standing.tone == "bad"]
    html = [path for path in made if path.endswith(".html")]
    words = f"{counted(len(html), 'page')} of {counted(len(facts.pipelines), 'pipeline')}: {folder / 'index.html'}"
    lines = [
        words,
        *(f"  {one.name}: {trouble.message}" for one in troubled for trouble in one.troubles if trouble.tone == "bad"),
    ]
    output.result(
        "\n".join(lines),
        {
            "out": str(folder),
            "pages": html,
            "pipelines": [
                {"name": one.name, "page": f"pipelines/{one.slug}.html", "state": one.standing.state, "tone": one.standing.tone}
                for one in facts.pipelines
            ],
        },
    )
    return Exit.OK
