"""The target as it stands against what the pipeline declares: a change that the commit makes, or a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from freshet.errors import StateError
from freshet.hudi.table import TableState
from freshet.plan.schema import schema_differences
from freshet.plan.stages import SchemaChange
from freshet.plan.target import compare_target
from freshet.project.model.pipeline import IndexSpec
from freshet.types.columns import Array, Atomic, Column, Struct
from tests.kit.memory import AVRO_TYPES, BUCKETS, COLUMNS, TARGET, a_commit, a_spec, a_table_state, a_target

BY_RECORD = IndexSpec("RECORD_INDEX", {})


def refusal(table: TableState, /, **spec: Any) -> StateError:
    with pytest.raises(StateError) as refused:
        compare_target(a_spec(**spec), table)
    assert refused.value.effect == "The table was not touched."
    assert refused.value.next_step
    return refused.value


def with_column(*columns: Column) -> dict[str, Any]:
    names = {c.name for c in columns}
    return {"columns": (*(c for c in COLUMNS if c.name not in names), *columns)}


def test_a_table_made_as_declared_has_no_changes() -> None:
    assert compare_target(a_spec(), a_target()) == ()


@pytest.mark.parametrize(
    ("code", "config", "before", "after"),
    [
        ("KEY_CHANGED", {"record_key": ("trip_id", "leg")}, "trip_id,leg", "trip_id"),
        ("PARTITIONING_CHANGED", {"partition_by": ()}, "", "day"),
        ("PARTITIONING_CHANGED", {"partition_by": ("hour",)}, "hour", "day"),
        ("ORDERING_CHANGED", {"ordering_field": "rides"}, "rides", "updated_at"),
        ("TABLE_TYPE_CHANGED", {"table_type": "MERGE_ON_READ"}, "MERGE_ON_READ", "COPY_ON_WRITE"),
    ],
)
def test_a_table_made_otherwise_is_refused(code: str, config: dict[str, Any], before: str, after: str) -> None:
    error = refusal(a_target(**config))
    assert error.code == code
    assert error.details == {"before": before, "after": after}
    assert TARGET.path in error.message
    assert "ddl/earnings.sql" in error.message


_KEY = "ghp_" + "kumQuat77x9violet" * 2


@pytest.mark.parametrize(
    "config",
    [
        {"record_key": ("trip_id", _KEY)},
        {"partition_by": (_KEY,)},
        {"ordering_field": _KEY},
        {"properties": {"hoodie.table.name": _KEY}},
    ],
)
def test_names_that_a_table_keeps_are_told_without_credentials(config: dict[str, Any]) -> None:
    """Of a table that an earlier version made: a name was not looked at then, and the secret has been changed since."""
    error = refusal(a_target(**config))
    assert "kumQuat77" not in str(error) + error.next_step + str(error.details)


def test_columns_that_a_table_keeps_are_told_without_credentials() -> None:
    """A column, and a field in the type of one."""
    fields = (("a", Atomic("int")), (_KEY, Atomic("int")))
    for column in (Column(name=_KEY, type=Atomic("int")), Column(name="rides", type=Struct(fields))):
        schema = json.dumps({"type": "record", "name": "r", "fields": [_as_avro(column)]})
        kept = a_table_state([a_commit(20, extra={"schema": schema})], ref=TARGET)
        changes, refused = schema_differences(a_spec(), kept)
        assert refused
        assert "kumQuat77" not in str(refused) + str(changes)


def _as_avro(column: Column) -> dict[str, Any]:
    if isinstance(column.type, Struct):
        inner = [{"name": name, "type": "int"} for name, _ in column.type.fields]
        return {"name": column.name, "type": {"type": "record", "name": "s", "fields": inner}}
    return {"name": column.name, "type": "int"}


def test_a_table_without_ordering_field_may_get_one() -> None:
    assert compare_target(a_spec(), a_target(ordering_field="")) == ()


class TestIndex:
    def test_another_bucket_count(self) -> None:
        error = refusal(a_target(), index=IndexSpec("BUCKET", {"hoodie.bucket.index.num.buckets": "8"}))
        assert error.code == "INDEX_CHANGED"
        assert "hoodie.bucket.index.num.buckets=4" in error.message
        assert "hoodie.bucket.index.num.buckets=8" in error.message

    @pytest.mark.parametrize(("made", "declared"), [(BUCKETS, BY_RECORD), (BY_RECORD, BUCKETS)])
    def test_another_type(self, made: IndexSpec, declared: IndexSpec) -> None:
        assert refusal(a_target(index=made), index=declared).code == "INDEX_CHANGED"

    def test_the_record_is_found_behind_commits_of_other_writers(self) -> None:
        ours = a_target()
        commits = [(instant, ours.info(instant)) for instant in ours.commits]
        target = a_table_state([*commits, a_commit(20), a_commit(30)], ref=TARGET)
        assert refusal(target, index=BY_RECORD).code == "INDEX_CHANGED"

    def test_a_foreign_table_whose_files_are_our_buckets_is_taken_over(self) -> None:
        ids = ("00000000-f679-45aa-84fb-f30478230804-0", "00000003-fc85-4fbd-8904-413102feb170-0")
        assert compare_target(a_spec(), a_target(index=None, file_ids=ids)) == ()

    def test_a_foreign_table_with_more_buckets_is_refused(self) -> None:
        error = refusal(a_target(index=None, file_ids=("00000000-f679-45aa-0", "00000006-fc85-4fbd-0")))
        assert error.code == "INDEX_CHANGED"
        assert "at least 7 buckets" in error.message

    def test_a_foreign_table_without_buckets_is_refused(self) -> None:
        error = refusal(a_target(index=None, file_ids=("00000000-f679-45aa-0", "a3b1fc85-4fbd-8904-0")))
        assert error.code == "INDEX_CHANGED"
        assert "no bucket index" in error.message

    def test_a_foreign_table_of_any_layout_may_get_a_record_index(self) -> None:
        assert compare_target(a_spec(index=BY_RECORD), a_target(index=None, file_ids=("a3b1fc85-4fbd-8904-0",))) == ()

    def test_a_foreign_table_without_rows_decides_nothing(self) -> None:
        assert compare_target(a_spec(), a_target(index=None)) == ()
        assert compare_target(a_spec(), a_table_state(ref=TARGET)) == ()


class TestSchema:
    def test_a_nullable_column_is_added(self) -> None:
        spec = a_spec(target=with_column(Column(name="tip", type=Atomic("double"))))
        assert compare_target(spec, a_target()) == (SchemaChange(column="tip", change="add", before="", after="double"),)

    def test_a_new_column_that_is_not_null_is_refused(self) -> None:
        error = refusal(a_target(), target=with_column(Column(name="tip", type=Atomic("double"), nullable=False)))
        assert error.code == "SCHEMA_CHANGED"
        assert "tip" in error.message

    @pytest.mark.parametrize("wider", ["bigint", "double"])
    def test_an_int_is_widened(self, wider: str) -> None:
        spec = a_spec(target=with_column(Column(name="rides", type=Atomic(wider))))
        assert compare_target(spec, a_target()) == (SchemaChange(column="rides", change="widen", before="int", after=wider),)

    def test_a_smallint_reads_back_as_int_and_is_no_change(self) -> None:
        assert compare_target(a_spec(target=with_column(Column(name="rides", type=Atomic("smallint")))), a_target()) == ()

    @pytest.mark.parametrize("other", ["string", "date", "float", "boolean"])
    def test_another_type_is_refused(self, other: str) -> None:
        error = refusal(a_target(), target=with_column(Column(name="rides", type=Atomic(other))))
        assert error.code == "SCHEMA_CHANGED"
        assert f"column rides is int in the table and {other} in the DDL" in error.message

    def test_a_narrower_type_is_refused(self) -> None:
        assert refusal(a_target(schema={**AVRO_TYPES, "rides": ["null", "long"]})).code == "SCHEMA_CHANGED"

    def test_a_column_dropped_from_the_ddl_is_refused(self) -> None:
        error = refusal(a_target(schema={**AVRO_TYPES, "tip": ["null", "double"]}))
        assert error.code == "SCHEMA_CHANGED"
        assert "tip" in error.message

    def test_all_differences_are_told_at_once(self) -> None:
        error = refusal(a_target(schema={**AVRO_TYPES, "rides": "string", "tip": "double"}))
        assert len(error.details["differences"]) == 2  # type: ignore[arg-type]

    def test_names_are_compared_without_case_and_order(self) -> None:
        schema = {name.upper(): kind for name, kind in reversed(AVRO_TYPES.items())}
        assert compare_target(a_spec(), a_target(schema=schema)) == ()

    def test_a_struct_inside_an_array_may_gain_a_field(self) -> None:
        leg = {"type": "record", "name": "leg", "fields": [{"name": "km", "type": ["null", "int"]}]}
        table = a_target(schema={**AVRO_TYPES, "legs": ["null", {"type": "array", "items": ["null", leg]}]})
        wider = Array(Struct((("km", Atomic("bigint")), ("stop", Atomic("string")))))
        changes = compare_target(a_spec(target=with_column(Column(name="legs", type=wider))), table)
        assert changes == (
            SchemaChange(
                column="legs", change="widen", before="array<struct<km:int>>", after="array<struct<km:bigint,stop:string>>"
            ),
        )

    def test_the_delete_mark_is_a_column_and_hudis_meta_columns_are_none(self) -> None:
        spec = a_spec(target=with_column(Column(name="_hoodie_is_deleted", type=Atomic("boolean"))))
        assert compare_target(spec, a_target()) == (
            SchemaChange(column="_hoodie_is_deleted", change="add", before="", after="boolean"),
        )
        assert compare_target(spec, a_target(schema={**AVRO_TYPES, "_hoodie_is_deleted": ["null", "boolean"]})) == ()
