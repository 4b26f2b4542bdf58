"""Call a user's ``transform(inputs, context)``: a plain function of a plain file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from freshet.errors import DataError, foreign_text
from freshet.project.rules.helpers import ROOT
from freshet.transform.modules import load_step


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a Python step may know of the run.

    Args:
        spark: The session.
        pipeline: The pipeline's name.
        env: The environment's name.
        vars: The project's variables, as in the YAML.
        source_instant: Completion time up to which the main source is read; SQL's ``<SRC_INSTANT>``.
    """

    spark: SparkSession
    pipeline: str
    env: str
    vars: Mapping[str, str]
    source_instant: str = ""


def run_python(root: str, file: str, inputs: Mapping[str, DataFrame], context: Context) -> DataFrame:
    """Call the file's ``transform``.

    Args:
        root: The project's root; steps share helpers by ``from transformers.lib.<file> import ...``.
        file: Path relative to the root.
        inputs: ``SRC`` is the previous step's result, the others are the pipeline's inputs by name.
        context: What the step may know of the run.

    Returns:
        The step's DataFrame.

    Raises:
        DataError: PYTHON_ERROR, with the file and the line that raised; NOT_A_DATAFRAME.
    """
    try:
        result = load_step(root, file).transform(inputs, context)
    except Exception as error:  # whatever a user's function raises is reported with its place
        raise _located(root, file, error) from error
    if not isinstance(result, DataFrame):
        raise DataError(
            "NOT_A_DATAFRAME",
            f"{file}: transform() returned {type(result).__name__}, not a DataFrame.",
            "Nothing was written, and the checkpoint stays.",
            f"Return a DataFrame from transform() in {file}.",
            file=file,
        )
    return result


def _located(root: str, file: str, error: Exception) -> DataError:
    # Of the step and its helpers the one that is nearest to where it was raised.
    place, line, trace = file, 0, error.__traceback__
    while trace is not None:
        raised_in = _in_project(root, trace.tb_frame.f_code.co_filename)
        if raised_in in (file, None) or raised_in.startswith(f"{ROOT}/"):
            place, line = (raised_in, trace.tb_lineno) if raised_in else (place, line)
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        place, line = _in_project(root, error.filename or "") or place, error.lineno
    return DataError(
        "PYTHON_ERROR",
        f"{place}:{line}: {type(error).__name__}: {foreign_text(error)}",
        "Nothing was written, and the checkpoint stays.",
        f"Mend {place}.",
        file=place,
        line=line,
    )


def _in_project(root: str, file: str) -> str | None:
    return Path(file).relative_to(root).as_posix() if Path(file).is_relative_to(root) else None
