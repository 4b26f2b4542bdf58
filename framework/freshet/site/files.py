"""The files of a pipeline as its page shows them: with the values of their variables, and without what can be a credential."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from freshet.credentials import tree_without_credentials, without_credentials
from freshet.problems import Problems
from freshet.project.model.kafka import KafkaSpec
from freshet.project.model.pipeline import PipelineSpec
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.statements import INSTANT_PLACE, SOURCE_VIEW
from freshet.project.syntax.template import has_template
from freshet.site.detail_facts import FileText

_PLAIN = re.compile(r"\{\{\s*(var|env)\.([A-Za-z][A-Za-z0-9_]*)\s*\}\}")
_MORE = "What is more than a variable's name between braces stands as it does in the file."
_AS_WRITTEN = "As the file has it: a value may be another one in each environment."


def files_of(root: str, spec: PipelineSpec) -> tuple[FileText, ...]:
    """Return the files of a pipeline: its YAML, its DDL, and its transformers in order.

    Args:
        root: The project's folder.
        spec: The pipeline.
    """
    files = ProjectFiles(Path(root))
    found = [_rendered(files, spec.file, "yaml", spec.variables), _rendered(files, spec.target.file, "ddl", spec.variables)]
    for step in spec.transform:
        if step.kind == "sql":
            # As a run takes it: rendered when the project was loaded.
            text = ";\n".join(statement.text.strip("\n") for statement in step.statements)
            marks = text.replace(SOURCE_VIEW, "<SRC>").replace(INSTANT_PLACE, "<SRC_INSTANT>")
            found.append(FileText(name=step.file, kind="sql", text=_safe(marks)))
            continue
        found += (FileText(name=name, kind="python", text=_safe(_read(files, name))) for name in (step.file, *step.helpers))
    return tuple(found)


def raw_files(root: str, names: Mapping[str, str]) -> tuple[FileText, ...]:
    """Return files that could not be loaded, as they are.

    Args:
        root: The project's folder.
        names: The kind of each, by its name.
    """
    files = ProjectFiles(Path(root))
    return tuple(
        FileText(name=name, kind=kind, text=_safe(_read(files, name)), note=_AS_WRITTEN) for name, kind in names.items()
    )


def settings_of(spec: PipelineSpec) -> tuple[tuple[str, str], ...]:
    """Return the settings in effect, by their names: variables, Hudi's, Spark's, and a topic's client."""
    client = spec.source.client if isinstance(spec.source, KafkaSpec) else {}
    found = {
        **{f"vars.{name}": value for name, value in spec.variables.items()},
        **spec.write_options,
        **spec.spark_conf,
        **{f"kafka.{name}": value for name, value in client.items()},
    }
    # A password that stands in a file as it is belongs on no page either.
    safe: dict[str, str] = tree_without_credentials(dict(sorted(found.items())))
    return tuple(safe.items())


def _rendered(files: ProjectFiles, name: str, kind: str, variables: Mapping[str, str]) -> FileText:
    def value_of(match: re.Match[str]) -> str:
        label, key = match.groups()
        if label == "env":
            return f"${{env.{key}}}"
        return variables.get(key, match[0])

    text = _PLAIN.sub(value_of, _read(files, name))
    return FileText(name=name, kind=kind, text=_safe(text), note=_MORE if has_template(text) else "")


def _read(files: ProjectFiles, name: str) -> str:
    return files.read(name, Place(name, 0), "file", Problems()) or ""


def _safe(text: str) -> str:
    # Line by line: what is looked at as one text is cut where it is long.
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield without_credentials(line)
