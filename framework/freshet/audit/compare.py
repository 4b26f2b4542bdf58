"""Hold a recompute against the target, row by row: what is missing, what is there and should not be, what differs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, MapType, StructType

from freshet.audit.plan import AuditPlan
from freshet.audit.recompute import WAITS, Recomputed
from freshet.audit.result import Example, Group
from freshet.sources.hudi.read.reader import load_version

# KIND is equal, missing, surplus, unequal; kept_out: a check keeps the row of that key out; lost: and it waits nowhere.
KIND, TWICE, OUTRANKED, SCOPE, RIGHT, STANDS = (
    f"__freshet_{name}" for name in ("kind", "twice", "outranked", "scope", "right", "stands")
)
#: What a row of the target says of itself, beside its columns.
COMMIT, PLACE = "_hoodie_commit_time", "_hoodie_partition_path"
_OURS, _THEIRS, _NUMBER, _DIFFER, _SHOWN = (f"__freshet_{name}" for name in ("ours", "theirs", "number", "differ", "shown"))
# Relative to the larger one of two numbers.
_CLOSE, _CLOSE_FLOAT = 1e-9, 1e-5
WRONG = ("missing", "surplus", "unequal")
_NESTED = (ArrayType, MapType, StructType)


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What a comparison counted.

    Args:
        groups: Rows by what is wrong with them, and by the commit that wrote them.
        pieces, wrong_pieces: Pieces that were drawn, and those with a wrong row, where a piece has several rows.
    """

    groups: tuple[Group, ...]
    pieces: int = 0
    wrong_pieces: int = 0


def target_rows(plan: AuditPlan, spark: SparkSession) -> DataFrame:
    """Return the target's drawn rows, by the columns of its files, with ``COMMIT`` and ``PLACE``."""
    rows = load_version(spark, plan.spec.target.ref.path, plan.target)
    there = {name.lower() for name in rows.columns}
    rows = rows.select(
        *(
            # A SMALLINT lies there as an INT; a column that the DDL has gained is null in the rows that stand.
            (F.col(f"`{c.name}`").cast(str(c.type)) if c.name.lower() in there else F.lit(None).cast(str(c.type))).alias(c.name)
            for c in plan.spec.target.columns
        ),
        COMMIT,
        PLACE,
    )
    return rows if plan.sample.is_whole else rows.where(plan.sample.of_target())


def marked_rows(plan: AuditPlan, found: Recomputed, stands: DataFrame) -> DataFrame:
    """Return a row for each row of the recompute or the target, with what is wrong about it; each side in one pass.

    Args:
        plan: The audit.
        found: What the target should hold.
        stands: What it holds.

    Returns:
        The columns that tell rows apart, ``KIND``, ``COMMIT`` of the row that stands, ``TWICE``: it stands besides another one
        of its key; ``OUTRANKED``: it is the newer one by its ordering value; ``SCOPE``: its piece; ``RIGHT`` and ``STANDS``: of
        a wrong row, both sides of it.
    """
    key = [F.col(f"`{name}`") for name in plan.identity]
    ordering = plan.spec.target.ordering_field
    first = Window.partitionBy(*key).orderBy(F.col(f"`{ordering}`").desc_nulls_last(), F.col(COMMIT).desc())
    names = [c.name for c in plan.spec.target.columns if c.name in found.rows.columns]
    ours = _with_scope(plan, found.rows.select(*(F.col(f"`{n}`") for n in names)).withColumn(_OURS, F.lit(True))).alias("r")
    numbered = stands.withColumns({_NUMBER: F.row_number().over(first), _THEIRS: F.lit(True)})
    theirs = _with_scope(plan, numbered).alias("t")
    same = reduce(lambda one, other: one & other, (F.col(f"r.`{n}`").eqNullSafe(F.col(f"t.`{n}`")) for n in plan.identity))
    joined = ours.join(theirs, same & (F.col(f"t.{_NUMBER}") == 1), "full_outer")
    here, there = F.col(f"r.{_OURS}").isNotNull(), F.col(f"t.{_THEIRS}").isNotNull()
    differ = F.array_compact(
        F.array(
            F.lit(None).cast("string"),
            *(F.when(~_equal(name, found.rows.schema[name].dataType), F.lit(name)) for name in plan.compared if name in names),
        )
    )
    marked = joined.select(
        *(F.coalesce(F.col(f"r.`{n}`"), F.col(f"t.`{n}`")).alias(n) for n in plan.identity),
        F.when(~there, "missing").when(~here, "surplus").when(F.size(differ) > 0, "unequal").otherwise("equal").alias(KIND),
        F.col(f"t.{COMMIT}").alias(COMMIT),
        F.coalesce(F.col(f"t.{_NUMBER}") > 1, F.lit(False)).alias(TWICE),
        F.coalesce(F.col(f"t.`{ordering}`") > F.col(f"r.`{ordering}`"), F.lit(False)).alias(OUTRANKED),
        F.coalesce(F.col(f"r.{SCOPE}"), F.col(f"t.{SCOPE}")).alias(SCOPE),
        F.when(here & there, differ).alias(_DIFFER),
        F.when(here, F.struct(*(F.col(f"r.`{n}`").alias(n) for n in names))).alias(RIGHT),
        F.when(there, F.struct(*(F.col(f"t.`{c.name}`").alias(c.name) for c in plan.spec.target.columns))).alias(STANDS),
    )
    marked = marked if found.kept_out is None else _without_kept_out(plan, marked, found.kept_out)
    if plan.since:
        # Of a row that is not there no commit tells when it went.
        marked = marked.where(F.col(COMMIT) >= plan.since)
    # What is right need not be kept.
    return marked.withColumns({name: F.when(_is_wrong(), F.col(name)) for name in (RIGHT, STANDS, _DIFFER)})


def count_rows(plan: AuditPlan, marked: DataFrame) -> Counted:
    """Count what was found, with some examples.

    Args:
        plan: The audit.
        marked: See ``marked_rows``.
    """
    shown = F.when(
        _is_wrong(),
        F.struct(
            F.to_json(F.struct(*(F.col(f"`{n}`") for n in plan.identity))).alias("key"),
            F.col(_DIFFER).alias("differ"),
            F.to_json(RIGHT, {"ignoreNullFields": "false"}).alias("right"),
            F.to_json(STANDS, {"ignoreNullFields": "false"}).alias("stands"),
        ),
    )
    columns = [F.count_if(F.array_contains(_DIFFER, name)).alias(f"c{n}") for n, name in enumerate(plan.compared)]
    found = (
        marked.withColumns({_SHOWN: shown, COMMIT: F.when(_is_wrong(), F.col(COMMIT))})
        .groupBy(KIND, COMMIT)
        .agg(
            F.count(F.lit(1)).alias("rows"),
            F.count_if(F.col(TWICE)).alias("twice"),
            F.count_if(F.col(OUTRANKED) & (F.col(KIND) == "unequal")).alias("outranked"),
            F.min(_SHOWN).alias("first"),
            F.max(_SHOWN).alias("last"),
            *columns,
        )
        .collect()
    )
    groups = tuple(_group(row, plan.compared) for row in found)
    if not draws_pieces(plan):
        return Counted(groups=groups)
    pieces = marked.where(F.col(SCOPE).isNotNull()).groupBy(SCOPE).agg(F.max(_is_wrong()).alias("wrong"))
    row = pieces.agg(F.count(F.lit(1)), F.count_if(F.col("wrong"))).collect()[0]
    return Counted(groups=groups, pieces=int(row[0]), wrong_pieces=int(row[1]))


def draws_pieces(plan: AuditPlan) -> bool:
    """Say whether what is drawn are pieces of several rows."""
    return not plan.sample.is_whole and not plan.sample.by_row


def _with_scope(plan: AuditPlan, rows: DataFrame) -> DataFrame:
    return rows.withColumn(SCOPE, F.expr(plan.sample.hashed()) if draws_pieces(plan) else F.lit(None).cast("bigint"))


def _is_wrong() -> Column:
    return F.col(KIND).isin(*WRONG)


def _without_kept_out(plan: AuditPlan, marked: DataFrame, kept_out: DataFrame) -> DataFrame:
    """Tell apart the keys whose row a check keeps out: under one an older row may stand, or one that was repaired by hand."""
    names = list(plan.identity)
    alone = F.when(F.col(WAITS), "kept_out").otherwise("lost")
    kind = F.when(F.col(KIND).isNull(), alone).when((F.col(KIND) == "surplus") & F.col(WAITS).isNotNull(), "kept_out")
    return marked.join(kept_out, names, "full_outer").withColumn(KIND, kind.otherwise(F.col(KIND))).drop(WAITS)


def _equal(name: str, kind: DataType) -> Column:
    ours, theirs = F.col(f"r.`{name}`"), F.col(f"t.`{name}`")
    if isinstance(kind, FloatType | DoubleType):
        # The sum of such numbers depends on their order, which no two runs share.
        apart, size = F.abs(ours - theirs), F.greatest(F.abs(ours), F.abs(theirs))
        close = (apart <= size * (_CLOSE if isinstance(kind, DoubleType) else _CLOSE_FLOAT)) & (apart < math.inf)
        return ours.eqNullSafe(theirs) | F.coalesce(close, F.lit(False))
    if isinstance(kind, _NESTED):
        # Of a map Spark tells no order, and of two structs no equality where one has gained a field.
        ours, theirs = (F.to_json(F.struct(_in_order(one, kind).alias("v"))) for one in (ours, theirs))
    return ours.eqNullSafe(theirs)


def _in_order(value: Column, kind: DataType) -> Column:
    """Return a map's entries in the order of its keys; a map within is compared as it was written."""
    plain = isinstance(kind, MapType) and not _holds_map(kind.keyType) and not _holds_map(kind.valueType)
    return F.array_sort(F.map_entries(value)) if plain else value


def _holds_map(kind: DataType) -> bool:
    match kind:
        case MapType():
            return True
        case ArrayType():
            return _holds_map(kind.elementType)
        case StructType():
            return any(_holds_map(one.dataType) for one in kind.fields)
        case _:
            return False


def _group(row: Row, compared: Sequence[str]) -> Group:
    kind, commit = str(row[KIND]), row[COMMIT] or ""
    shown = [one for one in (row["first"], row["last"]) if one is not None]
    examples = tuple(_example(kind, commit, one) for one in (shown[:1] if shown[:1] == shown[1:] else shown))
    columns = {name: int(row[f"c{n}"]) for n, name in enumerate(compared) if row[f"c{n}"]}
    return Group(
        kind=kind,
        commit=commit,
        rows=int(row["rows"]),
        twice=int(row["twice"]),
        outranked=int(row["outranked"]),
        columns=columns,
        examples=examples,
    )


def _example(kind: str, commit: str, shown: Row) -> Example:
    right, stands = (json.loads(shown[side]) if shown[side] else None for side in ("right", "stands"))
    return Example(
        kind=kind,
        key=json.loads(shown["key"]),
        columns=tuple(shown["differ"] or ()),
        recompute=right,
        target=stands,
        commit=commit,
    )
