"""``freshet init``: a project, or one more pipeline, that validates as it stands."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import click

from framework.cli.output import Output, reporting
from framework.errors import Exit, FreshetError
from framework.spec.json_schema import json_schema

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PROJECT = {"configs/base.yml": "base.yml", "configs/local.yml": "local.yml", ".gitignore": "gitignore"}
_PIPELINE = {
    "pipelines/@NAME@.yml": "pipeline.yml", "ddl/@NAME@.sql": "table.sql", "transformers/@NAME@.sql": "transformer.sql",
}


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option("--pipeline", "name", default=None, metavar="NAME", help="Add a pipeline of this name to the project in FOLDER.")
@click.option("--source", default="orders", show_default=True, metavar="TABLE", help="Raw table that the pipeline reads.")
@reporting
def init(output: Output, folder: Path, name: str | None, source: str) -> Exit:
    """Scaffold a project in FOLDER, or one more pipeline in it. Never overwrites a file.

    \b
    Examples:
      freshet init my_project                           configs and a first pipeline, order_totals
      freshet init --pipeline refunds --source refunds  one more, in the project here
    """
    files = {**({} if name else _PROJECT), **_PIPELINE}
    name = name or "order_totals"
    for word in (name, source):
        if not _NAME.fullmatch(word):
            raise click.BadParameter(f"{word!r} is not a name: lower-case letters, digits and _, a letter first.")
    contents = {
        path.replace("@NAME@", name): _template(file).replace("@NAME@", name).replace("@SOURCE@", source)
        for path, file in files.items()
    }
    schema = "configs/pipeline.schema.json"
    if not (folder / schema).exists():
        contents[schema] = json.dumps(json_schema(), indent=1, sort_keys=True) + "\n"
    standing = [path for path in contents if (folder / path).exists()]
    if standing:
        raise FreshetError("FILE_EXISTS", f"{', '.join(standing)} stands in {folder.resolve()} already.",
                           "Nothing was written.", "Choose another folder, or another name by --pipeline NAME.")
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    where = "" if folder == Path() else f" -C {folder}"
    text = "\n".join([*(f"wrote {folder / path}" for path in contents), f"next: freshet validate{where}"])
    output.result(text, {"folder": str(folder), "files": sorted(contents), "next": f"freshet validate{where}"})
    return Exit.OK


def _template(file: str) -> str:
    return (resources.files("framework.cli") / "scaffold" / file).read_text("utf-8")
