"""What a table was made with and the pipeline says otherwise now is found by the plan.

Of this kind: change data that the DDL gains or loses, how partition paths are written. Hudi keeps these with the table, and a
write that differs fails in its midst.
"""

from __future__ import annotations

import pytest

from freshet.errors import StateError
from freshet.hudi.checkpoint import COLUMNS_KEY
from freshet.plan.target import compare_target
from freshet.types.columns import Atomic, Column
from tests.kit.memory import AVRO_TYPES, COLUMNS, TARGET, a_commit, a_spec, a_table_state, a_target


def loaded(operation: str, recorded: bool, kind: str, in_key: bool) -> None:
    """Compare a table whose first commit was of an operation with a pipeline whose ``updated_at`` is of a type."""
    columns = tuple(Column(name="updated_at", type=Atomic(kind)) if c.name == "updated_at" else c for c in COLUMNS)
    key = ("trip_id", "updated_at") if in_key else ("trip_id",)
    table = a_target(record_key=key, extra={COLUMNS_KEY: "{}"}, schema={**AVRO_TYPES, "updated_at": ["null", AVRO[kind]]})
    first = a_commit(0, operation=operation, extra={COLUMNS_KEY: "{}"} if recorded else {})
    commits = [first, *((instant, table.info(instant)) for instant in table.commits)]
    compare_target(
        a_spec(target={"columns": columns, "record_key": key}),
        a_table_state(commits[1:], archived=[first], ref=TARGET, record_key=key),
    )


AVRO: dict[str, object] = {
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
    "date": {"type": "int", "logicalType": "date"},
    "binary": "bytes",
    "bigint": "long",
    "string": "string",
}


@pytest.mark.parametrize(
    ("operation", "recorded", "kind", "in_key", "refused"),
    [
        ("BULK_INSERT", False, "timestamp", True, True),
        ("BULK_INSERT", False, "binary", True, True),
        ("BULK_INSERT", False, "date", True, False),
        ("BULK_INSERT", False, "timestamp", False, False),
        ("BULK_INSERT", False, "bigint", True, False),
        ("BULK_INSERT", True, "timestamp", True, False),
        ("UPSERT", False, "timestamp", True, False),
    ],
)
def test_rows_that_were_loaded_with_another_text_of_their_keys(
    operation: str,
    recorded: bool,
    kind: str,
    in_key: bool,
    refused: bool,
) -> None:
    """A bulk insert of Spark's own rows; freshet's first loads were such ones before their commits recorded columns."""
    if not refused:
        loaded(operation, recorded, kind, in_key)
        return
    with pytest.raises(StateError) as error:
        loaded(operation, recorded, kind, in_key)
    assert error.value.code == "KEY_TEXT_DIFFERS"


CDC, HIVE = "hoodie.table.cdc.enabled", "hoodie.datasource.write.hive_style_partitioning"
ENCODED, LOGGED = "hoodie.datasource.write.partitionpath.urlencode", "hoodie.table.cdc.supplemental.logging.mode"


@pytest.mark.parametrize(
    ("stands", "declared", "refused"),
    [
        ({CDC: "false"}, {CDC: "true"}, True),
        ({CDC: "true"}, {CDC: "false"}, True),
        ({CDC: "true"}, {}, False),
        ({CDC: "true"}, {CDC: "TRUE"}, False),
        ({HIVE: "false"}, {HIVE: "true"}, True),
        ({"a": "b"}, {ENCODED: "true"}, True),
        ({ENCODED: "true"}, {ENCODED: "true"}, False),
        ({CDC: "true"}, {CDC: "true", LOGGED: "OP_KEY_ONLY"}, True),
        ({}, {CDC: "true"}, False),
    ],
)
def test_a_setting_of_the_table(stands: dict[str, str], declared: dict[str, str], refused: bool) -> None:
    table = a_target(properties=stands)
    if not refused:
        assert compare_target(a_spec(write_options=declared), table) == ()
        return
    with pytest.raises(StateError) as error:
        compare_target(a_spec(write_options=declared), table)
    assert error.value.code == "SETTING_CHANGED"
    assert {error.value.details["key"]: error.value.details["after"]}.items() <= declared.items()
