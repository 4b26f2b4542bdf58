"""Call a user's ``transform(inputs, context)``: a plain function of a plain file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from framework.errors import DataError, foreign_text


@dataclass(frozen=True)
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
        root: The project's root; importable while the file is loaded, so that steps can share helpers.
        file: Path relative to the root.
        inputs: ``SRC`` is the previous step's result, the others are the pipeline's inputs by name.
        context: What the step may know of the run.

    Returns:
        The step's DataFrame.

    Raises:
        DataError: PYTHON_ERROR, with the file and the line that raised; NOT_A_DATAFRAME.
    """
    try:
        result = _load(root, file).transform(inputs, context)
    except Exception as error:  # whatever a user's function raises is reported with its place
        raise _located(root, file, error) from error
    if not isinstance(result, DataFrame):
        raise DataError(
            "NOT_A_DATAFRAME", f"{file}: transform() returned {type(result).__name__}, not a DataFrame.",
            "Nothing was written, and the checkpoint stays.", f"Return a DataFrame from transform() in {file}.", file=file,
        )
    return result


def _load(root: str, file: str) -> ModuleType:
    if root not in sys.path:
        sys.path.insert(0, root)
    name = "freshet_step_" + file.removesuffix(".py").replace("/", "_")
    spec = importlib.util.spec_from_file_location(name, Path(root) / file)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    # Executors cannot import this module by name, so that a UDF defined in it has to travel whole.
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return module


def _located(root: str, file: str, error: Exception) -> DataError:
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(Path(root) / file):
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        line = error.lineno
    return DataError(
        "PYTHON_ERROR", f"{file}:{line}: {type(error).__name__}: {foreign_text(error)}",
        "Nothing was written, and the checkpoint stays.",
        f"Mend {file}.", file=file, line=line,
    )
