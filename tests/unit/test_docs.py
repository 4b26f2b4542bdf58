"""The blocks of the docs that no shell runs: YAML, files of a project, Python, and the notebook."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from pydantic import BaseModel, ValidationError

from freshet.cli.main import main
from freshet.ingest.spec import IngestFile
from freshet.project.rules.hoodie import problem_of
from freshet.project.shape.files import ConfigFile, PipelineFile
from tests.kit.project import a_project

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for folder in ("tutorials", "guides", "concepts") for path in (DOCS / folder).glob("*.md"))
#: What files are that are no pipelines, by how they begin.
KINDS: dict[str, type[BaseModel]] = {"# configs/ingest/": IngestFile, "# configs/": ConfigFile}
#: What a pipeline must say, and a part of one leaves out.
REST = {"ddl": "ddl/x.sql", "transform": "transformers/x.sql"}


def blocks(page: Path, kind: str) -> Iterator[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    # Files that a tutorial writes by its shell.
    written = re.findall(r"^cat > \S+\.yml <<'EOF'\n(.*?)^EOF$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    yield from (*found, *(written if kind == "yaml" else ()))


def faults_of(text: str) -> list[str]:
    """Say what freshet would refuse in a pipeline, a config, or a part of one."""
    tree = yaml.safe_load(text)
    # As freshet reads a scalar there: by its text.
    tree |= {key: {name: str(value) for name, value in tree[key].items()} for key in ("hoodie", "spark") if key in tree}
    model = next((one for head, one in KINDS.items() if text.startswith(head)), PipelineFile)
    whole = REST | tree if model is PipelineFile else tree
    try:
        model.model_validate(whole)
    except ValidationError as error:
        return [f"{one['loc']}: {one['msg']}" for one in error.errors()]
    found = [problem_of(key, str(value)) for key, value in tree.get("hoodie", {}).items()]
    return [f"{one[0]}: {one[1]}" for one in found if one is not None]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_yaml_of_the_pages_is_what_freshet_takes(page: Path) -> None:
    """Else: a key that was renamed, or never was. The kind: names of keys, their values, and Hudi's keys by the catalogue."""
    assert [fault for text in blocks(page, "yaml") for fault in faults_of(text)] == []


def test_faults_are_found() -> None:
    assert faults_of("inputs: {tips: {table: raw.tips, reed: snapshot}}")
    assert faults_of("# configs/prod.yml\nhoodi: {hoodie.write.lock.provider: mine}")
    assert faults_of("hoodie: {hoodie.upsert.suffle.parallelism: 2}")


def test_a_job_of_hoodiestreamer_after_its_move_is_valid(tmp_path: Path) -> None:
    """The three files of the guide, and each line of the properties that it begins with."""
    text = (DOCS / "guides/from-hoodiestreamer.md").read_text("utf-8")
    files = dict(re.findall(r"^`(\S+)`\n\n```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert len(files) == 3
    project = a_project(tmp_path, files=files)
    done = CliRunner().invoke(main, ["validate", "trip_fares", "-C", str(project)])
    assert done.exit_code == 0, done.output
    lines = dict(line.split("=", 1) for line in re.findall(r"^hoodie\S+=.*$", text, re.MULTILINE))
    refused = {key: problem[0] for key, value in lines.items() if (problem := problem_of(key, value))}
    assert refused == {"hoodie.streamer.transformer.sql": "NOT_SUPPORTED"}


def test_the_pipeline_of_a_changelog_is_valid(tmp_path: Path) -> None:
    text = (DOCS / "guides/changelog.md").read_text("utf-8")
    files = dict(re.findall(r"^`(\S+)`\n\n```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert sorted(files) == [
        "ddl/order_events.sql",
        "ddl/orders.sql",
        "pipelines/order_events.yml",
        "pipelines/orders.yml",
        "transformers/order_events.sql",
    ]
    (of_versions,) = (block for block in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S) if "strategy: history" in block)
    for number, pipeline in enumerate((files["pipelines/orders.yml"], of_versions)):
        project = a_project(tmp_path / str(number), files={**files, "pipelines/orders.yml": pipeline})
        done = CliRunner().invoke(main, ["validate", "orders", "order_events", "-C", str(project)])
        assert done.exit_code == 0, done.output


def test_the_notebook_is_a_page() -> None:
    code: dict[str, Any] = {"__file__": str(DOCS / "first_page.py")}
    exec((DOCS / "first_page.py").read_text("utf-8"), code)
    page = SimpleNamespace(file=SimpleNamespace(src_uri="tutorials/notebook.md"))
    shown = code["on_page_markdown"]("", page)
    assert shown.startswith("# ")
    assert "```python\nimport freshet\n" in shown


def test_python_of_the_pages_compiles() -> None:
    notebook = json.loads((DOCS / "tutorials/notebook.ipynb").read_text("utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    assert all(not cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"), "commit it without outputs"
    for text in (*cells, *(text for page in PAGES for text in blocks(page, "python"))):
        compile(text, "docs", "exec")
