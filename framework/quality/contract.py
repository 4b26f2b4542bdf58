"""Hold the batch against the DDL: same columns, types that fit, no null where none may be. In the one pass of the write."""

from __future__ import annotations

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from framework.errors import DataError
from framework.plan.stages import Conform
from framework.spec.types import Column, DataType, Fit, fit
from framework.spec.types_json import type_from_spark

# Raised inside Spark for a value that may not pass; the sink reads it back out of the failed job's message.
MARK = "FRESHET_REFUSED"


def conform(batch: DataFrame, stage: Conform, file: str) -> DataFrame:
    """Project and cast the batch to the target's columns.

    Args:
        batch: The transformation's result.
        stage: The target's columns and which of them must have a value.
        file: The DDL file, for messages.

    Returns:
        The batch with exactly the target's columns, in its order and types. A value that does not fit or is null where
        none may be fails the job that reads it.

    Raises:
        DataError: BATCH_MISMATCH, with every difference between the batch and the DDL.
    """
    found, wrong = _types(batch)
    names = [field.name.lower() for field in batch.schema.fields]
    declared = {name.lower() for name in (*(c.name for c in stage.columns), *stage.ignored)}
    wrong += [f"column {name} stands twice in the batch" for name in sorted({n for n in names if names.count(n) > 1})]
    wrong += [f"column {name} ({kind}) is not in the DDL" for name, kind in found if name.lower() not in declared]
    types = {name.lower(): kind for name, kind in found}
    fits: dict[str, Fit] = {}
    for column in stage.columns:
        kind = types.get(column.name.lower())
        if kind is None and column.name.lower() in names:
            continue
        if kind is None:
            wrong.append(f"column {column.name} ({column.type}) is missing from the batch")
            continue
        fits[column.name] = fit(kind, column.type)
        if fits[column.name] is Fit.NO:
            wrong.append(f"column {column.name} is {kind} in the batch and {column.type} in the DDL: cast it in the SQL")
    if wrong:
        raise DataError(
            "BATCH_MISMATCH", f"the batch does not fit {file}: " + "; ".join(wrong) + ".",
            "Nothing was written: the table, its schema and the checkpoint stay.",
            f"Change the transformation's last step or {file}.", differences=wrong,
        )
    return batch.select(*(_guarded(column, fits[column.name], stage).alias(column.name) for column in stage.columns))


def _types(batch: DataFrame) -> tuple[list[tuple[str, DataType]], list[str]]:
    found: list[tuple[str, DataType]] = []
    wrong: list[str] = []
    for field in batch.schema.fields:
        try:
            found.append((field.name, type_from_spark(field.dataType.jsonValue())))
        except ValueError:
            wrong.append(f"column {field.name} is {field.dataType.simpleString()}, which no table of Hudi can hold: cast it")
    return found, wrong


def _guarded(column: Column, how: Fit, stage: Conform) -> SparkColumn:
    raw = F.col(f"`{column.name}`")
    # Equal types are cast too: a literal's array may not hold nulls, and Hudi would make the table so.
    value = raw.cast(str(column.type))
    if how is Fit.CHECKED:
        # A plain cast of a number that is too large gives null, in silence; try_cast tells the two nulls apart.
        value = F.expr(f"try_cast(`{column.name}` AS {column.type})")
        value = F.when(raw.isNotNull() & value.isNull(), _refuse("OVERFLOW", column, stage)).otherwise(value)
    if column.name in stage.required:
        empty = value.isNull()
        if column.name in stage.keys and str(column.type) == "string":
            empty = empty | (value == "")
        value = F.when(empty, _refuse("NULL_VALUE", column, stage)).otherwise(value)
    # To Hudi every column is nullable, whatever the SQL made it: it refuses to add a column that is not.
    return F.when(F.lit(True), value)


def _refuse(code: str, column: Column, stage: Conform) -> SparkColumn:
    def text_of(name: str) -> SparkColumn:
        return F.coalesce(F.col(f"`{name}`").cast("string"), F.lit("null"))

    shown = [F.lit(f"{MARK}|{code}|{column.name}|{column.type}|"), text_of(column.name)]
    for number, key in enumerate(stage.keys):
        shown += [F.lit(f"{', ' if number else '|'}{key}="), text_of(key)]
    return F.raise_error(F.substring(F.concat(*shown, F.lit("|")), 1, 500))
