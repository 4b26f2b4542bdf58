"""Hold the batch against the DDL: same columns, types that fit, no null where none may be. In the one pass of the write."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from freshet.errors import DataError
from freshet.hudi.options import IS_DELETED
from freshet.plan.row_stages import EnforceSchema
from freshet.quality.partitions import cannot_be_kept
from freshet.quality.refusals import SHOWN, refuse, row_in_words
from freshet.types.columns import PLAIN_NAME, Array, Atomic, Column, DataType, Fit, Map, Struct, field_names, fit, may_widen
from freshet.types.from_json import OWN_PREFIX, type_from_spark
from freshet.types.words import FORMS

# Columns that go along until the checks are done: why a row cannot be published, the row as it was, and whether it says no
# place in the table: its key or partition is missing, or none that the table can hold.
REASONS, ORIGINAL, NOWHERE = "__freshet_reasons", "__freshet_original", "__freshet_nowhere"


def enforce_schema(batch: DataFrame, stage: EnforceSchema, file: str, keep: tuple[str, ...] = ()) -> DataFrame:
    """Project and cast the batch to the target's columns.

    Args:
        batch: The transformation's result.
        stage: The target's columns and which of them must have a value.
        file: The DDL file, for messages.
        keep: Columns of the batch that go along as they are.

    Returns:
        The batch with exactly the target's columns, in its order and types, and what ``keep`` and the stage carry along. A
        value that does not fit or is null where none may be fails the job that reads it, or marks its row.

    Raises:
        DataError: BATCH_MISMATCH, with every difference between the batch and the DDL.
    """
    found, wrong = _types(batch)
    names = [field.name.lower() for field in batch.schema.fields]
    declared = {name.lower() for name in (*(c.name for c in stage.columns), *stage.ignored, *keep)}
    wrong += [f"column {name} stands twice in the batch" for name in sorted({n for n in names if names.count(n) > 1})]
    extra = [(name, kind) for name, kind in found if name.lower() not in declared]
    if stage.evolution == "nothing":
        wrong += [f"column {name} ({kind}) is not in the DDL" for name, kind in extra]
    else:
        wrong += [
            f"column {name}: Avro, and so Hudi, cannot hold the name '{part}'"
            for name, kind in extra
            for part in (name, *field_names(kind))
            if not PLAIN_NAME.fullmatch(part) or part.startswith(OWN_PREFIX)
        ]
    types = {name.lower(): kind for name, kind in found}
    fits: dict[str, tuple[Column, Fit]] = {}
    for column in stage.columns:
        kind = types.get(column.name.lower())
        if kind is None and column.name.lower() in names:
            continue
        if kind is None and column.name in stage.optional:
            fits[column.name] = column, Fit.WIDENS
            batch = batch.withColumn(column.name, F.lit(None).cast(str(column.type)))
            continue
        if kind is None:
            wrong.append(f"column {column.name} ({column.type}) is missing from the batch")
            continue
        if stage.evolution == "widen" and kind != column.type and may_widen(column.type, kind):
            column = Column(name=column.name, type=kind, nullable=column.nullable, comment=column.comment)
        how = fit(kind, column.type)
        if how is Fit.NO and stage.rule and kind == Atomic("string") and not isinstance(column.type, Array | Map | Struct):
            how = Fit.CHECKED
        fits[column.name] = column, how
        if how is Fit.NO:
            wrong.append(f"column {column.name} is {kind} in the batch and {column.type} in the DDL: cast it in the SQL")
    if wrong:
        raise DataError(
            "BATCH_MISMATCH",
            f"the batch does not fit {file}: " + "; ".join(wrong) + ".",
            "Nothing was written: the table, its schema and the checkpoint stay.",
            f"Change the transformation's last step or {file}.",
            differences=wrong,
        )
    added = [F.col(f"`{name}`") for name, _ in extra if stage.evolution != "nothing"]
    row = row_in_words({key: key for key in stage.keys})
    columns = [_guarded(column, how, stage, row).alias(column.name) for column, how in fits.values()]
    carried = [F.col(f"`{name}`") for name in keep]
    if stage.marks:
        carried.append(F.array_compact(F.array(*_reasons(fits, stage))).alias(REASONS))
        located = {name: one for name, one in fits.items() if name in (*stage.keys, *stage.paths.columns)}
        carried.append((F.size(F.array_compact(F.array(*_reasons(located, stage)))) > 0).alias(NOWHERE))
    if stage.keeps_original:
        written = F.struct(*(F.col(f"`{name}`") for name, _ in found if name not in keep))
        carried.append(F.to_json(written, {"ignoreNullFields": "false"}).alias(ORIGINAL))
    return batch.select(*columns, *added, *carried)


def with_aside(batch: DataFrame, aside: DataFrame) -> DataFrame:
    """Add what a source gave that is no row of it to a batch whose malformed rows are marked, as such rows.

    Args:
        batch: What ``enforce_schema`` gave.
        aside: ``REASONS`` and ``ORIGINAL``.
    """
    given = {REASONS: F.col(REASONS), ORIGINAL: F.col(ORIGINAL), NOWHERE: F.lit(True)}
    columns = [given.get(f.name, F.lit(None)).cast(f.dataType).alias(f.name) for f in batch.schema.fields]
    return batch.unionByName(aside.select(*columns))


def _types(batch: DataFrame) -> tuple[list[tuple[str, DataType]], list[str]]:
    found: list[tuple[str, DataType]] = []
    wrong: list[str] = []
    for field in batch.schema.fields:
        try:
            found.append((field.name, type_from_spark(field.dataType.jsonValue())))
        except ValueError:
            wrong.append(f"column {field.name} is {field.dataType.simpleString()}, which no table of Hudi can hold: cast it")
    return found, wrong


def _cast(column: Column, how: Fit) -> SparkColumn:
    return F.expr(_cast_text(column, how))


def _cast_text(column: Column, how: Fit) -> str:
    # A plain cast of a number that is too large gives null, in silence; try_cast tells the two nulls apart.
    # Equal types are cast too: a literal's array may not hold nulls, and Hudi would make the table so.
    return f"{'try_cast' if how is Fit.CHECKED else 'cast'}(`{column.name}` AS {column.type})"


def _misfit(column: Column, how: Fit, stage: EnforceSchema) -> SparkColumn | None:
    raw = F.col(f"`{column.name}`")
    if how is Fit.CHECKED:
        return raw.isNotNull() & _cast(column, how).isNull()
    return _no_text(_cast(column, how), column.type) if stage.rule else None


def _no_text(value: SparkColumn, kind: DataType) -> SparkColumn | None:
    """Return the condition that a text, or one within a value, has bytes that are no UTF-8; None where there is no text.

    Such bytes change when they are read as text and written again.
    """
    match kind:
        case Atomic("string"):
            return F.coalesce(value.cast("binary") != F.encode(value, "UTF-8"), F.lit(False))
        case Struct(fields):
            inner = [one for name, field in fields if (one := _no_text(value.getField(name), field)) is not None]
            return reduce(lambda one, other: one | other, inner) if inner else None
        case Array(element):
            if _no_text(F.lit(None), element) is None:
                return None
            return F.coalesce(F.exists(value, lambda one: _no_text(one, element)), F.lit(False))  # type: ignore[arg-type, return-value]
        case Map(key, item):
            found = [_no_text(F.map_keys(value), Array(key)), _no_text(F.map_values(value), Array(item))]
            inner = [one for one in found if one is not None]
            return reduce(lambda one, other: one | other, inner) if inner else None
    return None


def _unkept(column: Column, value: SparkColumn, stage: EnforceSchema) -> SparkColumn | None:
    if column.name not in stage.paths.columns or column.type != Atomic("string"):
        return None
    return cannot_be_kept(column.name, value, stage.paths)


def _ambiguous(column: Column, value: SparkColumn, stage: EnforceSchema) -> SparkColumn | None:
    """Return the condition that a part of the key reads as if the next part began in it; None where no text can."""
    # The key is one text to Hudi, a:1,b:2 of a and b. Where no part but the last holds what begins the next, the parts of two
    # texts that are equal are equal.
    after = dict(zip(stage.keys, stage.keys[1:], strict=False))
    if column.name not in after or column.type != Atomic("string"):
        return None
    return F.coalesce(value.contains(f",{after[column.name]}:"), F.lit(False))


def _outside(column: Column, value: SparkColumn, stage: EnforceSchema) -> SparkColumn | None:
    """Return the condition that a row would be added to a partition that is not overwritten, and stand there twice."""
    if not stage.only or column.name not in stage.paths.columns:
        return None
    outside = ~value.cast("string").isin(*stage.only)
    # An overwrite leaves out what is deleted, wherever that was.
    deletes = any(one.name == IS_DELETED for one in stage.columns)
    return outside & ~F.coalesce(F.col(IS_DELETED).cast("boolean"), F.lit(False)) if deletes else outside


def _missing(column: Column, value: SparkColumn, stage: EnforceSchema) -> SparkColumn | None:
    if column.name not in stage.required:
        return None
    empty = value.isNull()
    return empty | (value == "") if column.name in stage.keys and str(column.type) == "string" else empty


def _guarded(column: Column, how: Fit, stage: EnforceSchema, row: SparkColumn) -> SparkColumn:
    plain = value = _cast(column, how)
    misfit = _misfit(column, how, stage)
    if stage.marks:
        value = value if misfit is None else F.when(~misfit, value)
    else:
        if misfit is not None:
            value = F.when(misfit, refuse("OVERFLOW", column.name, column.type, row, stage.rule)).otherwise(value)
        # Of the guarded value, so that what does not fit is called that, and not null.
        missing = _missing(column, value, stage)
        if missing is not None:
            value = F.when(missing, refuse("NULL_VALUE", column.name, column.type, row, stage.rule)).otherwise(value)
        unkept = _unkept(column, value, stage)
        if unkept is not None:
            value = F.when(unkept, refuse("BAD_PARTITION", column.name, column.type, row, stage.rule)).otherwise(value)
        ambiguous = _ambiguous(column, value, stage)
        if ambiguous is not None:
            value = F.when(ambiguous, refuse("KEY_AMBIGUOUS", column.name, column.type, row, stage.rule)).otherwise(value)
    outside = _outside(column, value, stage)
    if outside is not None:
        value = F.when(outside, refuse("OUTSIDE_CHUNK", column.name, column.type, row, stage.rule)).otherwise(value)
    # To Hudi every column is nullable, whatever the SQL made it: it refuses to add a column that is not.
    if value is plain:
        return F.expr(f"CASE WHEN true THEN {_cast_text(column, how)} END")
    return F.when(F.lit(True), value)


def _reasons(fits: dict[str, tuple[Column, Fit]], stage: EnforceSchema) -> list[SparkColumn]:
    found = [F.lit(None).cast("string")]
    for column, how in fits.values():
        misfit, missing = _misfit(column, how, stage), _missing(column, _cast(column, how), stage)
        if misfit is not None:
            shown = F.substring(F.encode(F.col(f"`{column.name}`").cast("string"), "UTF-8").cast("string"), 1, SHOWN)
            kind = str(column.type)
            why = f" is no {kind}: {FORMS[kind]}" if kind in FORMS else f" does not fit into {kind}"
            found.append(F.when(misfit, F.concat(F.lit(f"{column.name}: "), shown, F.lit(why))))
        if missing is not None:
            apart = missing if misfit is None else ~misfit & missing
            found.append(F.when(apart, F.lit(f"{column.name} is null" + (", or empty" if column.name in stage.keys else ""))))
        unkept = _unkept(column, _cast(column, how), stage)
        if unkept is not None:
            found.append(F.when(unkept, F.lit(f"{column.name} is no value that a partition's path can hold")))
        ambiguous = _ambiguous(column, _cast(column, how), stage)
        if ambiguous is not None:
            found.append(F.when(ambiguous, F.lit(f"{column.name} holds what begins the next part of the record key")))
    return found
