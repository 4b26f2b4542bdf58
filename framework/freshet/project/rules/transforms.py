"""The chain of SQL and Python files: read, rendered, and checked as far as that needs no Spark."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import PurePosixPath

from freshet.problems import Problems, did_you_mean
from freshet.project.model.pipeline import TransformSpec
from freshet.project.rules.helpers import parsed_python, read_helpers
from freshet.project.syntax.files import Place, ProjectFiles
from freshet.project.syntax.statements import check_statements, leaves_view, mentions_source, split_statements, unclosed
from freshet.project.syntax.template import TemplateContext, render

FUNCTION = "transform"


def read_chain(
    names: Sequence[tuple[str, Place]],
    files: ProjectFiles,
    context: TemplateContext,
    problems: Problems,
) -> tuple[tuple[TransformSpec, str], ...]:
    """Read the files of a chain, each with its text: a SQL's after Jinja, a Python step's with those of its helpers.

    Args:
        names: File names with the place that names each, in order.
        files: The project's files.
        context: What the SQL's templates may see.
        problems: Receives what is wrong with each file, and SOURCE_NOT_USED where a step reads no ``<SRC>``.
    """
    before = len(problems)
    read = [_read(name, place, files, context, problems) for name, place in names]
    chain = [step for step in read if step is not None]
    if len(problems) > before:
        return tuple(chain)
    # What an earlier step leaves behind as a view may be read in the stead of its result; a Python step may leave any.
    views = False
    for number, (step, text) in enumerate(chain):
        place = names[number][1]
        if step.kind == "sql" and not views and not mentions_source(text):
            lost = "what changed in the main source" if number == 0 else f"the result of {chain[number - 1][0].file}"
            problems.add(
                place.file,
                place.line,
                "SOURCE_NOT_USED",
                f"{step.file} does not read <SRC>, so that {lost} would not matter.",
                "Write FROM <SRC>, and not the source's own name, where the rows of the step before belong.",
            )
        views |= step.kind == "python" or any(leaves_view(statement) for statement in step.statements)
    return tuple(chain)


def _read(
    name: str,
    place: Place,
    files: ProjectFiles,
    context: TemplateContext,
    problems: Problems,
) -> tuple[TransformSpec, str] | None:
    ending = PurePosixPath(name).suffix.lower()
    if ending not in (".sql", ".py"):
        problems.add(
            place.file,
            place.line,
            "BAD_VALUE",
            f"The transformer '{name[:80]}' is neither .sql nor .py.",
            "Name a .sql or a .py file.",
        )
        return None
    text = files.read(name, place, "transformer", problems)
    if text is None:
        return None
    if ending == ".py":
        tree = parsed_python(text, name, problems)
        if tree is None:
            return None
        _check_python(tree, name, problems)
        helpers = read_helpers(name, tree, files, problems)
        # What a step does is what its helpers do: the pipeline's fingerprint is of both.
        whole = [text, *(part for file, held in helpers.items() for part in (file, held))]
        return TransformSpec(file=name, kind="python", helpers=tuple(helpers)), "\n".join(whole)
    rendered = render(text, context, name, 1, problems)
    if rendered is None:
        return None
    open_one = unclosed(rendered)
    if open_one is not None:
        problems.add(name, open_one.line, open_one.code, open_one.message[:1].upper() + open_one.message[1:], "Close it.")
        return None
    statements = split_statements(rendered)
    for found in check_statements(statements):
        problems.add(
            name,
            found.line,
            found.code,
            found.message[:1].upper() + found.message[1:],
            "Write SELECT ... FROM <SRC>." if not statements else "",
        )
    return TransformSpec(file=name, kind="sql", statements=statements), rendered


def _check_python(tree: ast.Module, file: str, problems: Problems) -> None:
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found = functions.get(FUNCTION)
    hint = "Write 'def transform(inputs, context):' at the top level; it returns a DataFrame."
    if found is None:
        near = did_you_mean(FUNCTION, functions) if functions else ""
        problems.add(
            file,
            0,
            "NO_TRANSFORM_FUNCTION",
            "The file defines no function 'transform'.",
            f"{hint} '{near.split(chr(39))[1]}' comes near." if near.startswith("Did") else hint,
        )
        return
    arguments = found.args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    named_only = len(arguments.kwonlyargs) - sum(default is not None for default in arguments.kw_defaults)
    if not (positional - len(arguments.defaults) <= 2 <= positional or arguments.vararg) or named_only:
        problems.add(
            file,
            found.lineno,
            "NO_TRANSFORM_FUNCTION",
            "The function 'transform' must take two arguments, inputs and context.",
            hint,
        )
