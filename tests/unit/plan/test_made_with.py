"""What a table was made with and the pipeline says otherwise now is found by the plan.

Of this kind: change data that the DDL gains or loses, how partition paths are written. Hudi keeps these with the table, and a
write that differs fails in its midst.
"""

from __future__ import annotations

import pytest

from framework.errors import StateError
from framework.plan.target import compare_target
from tests.kit.memory import a_spec, a_target

CDC, HIVE = "hoodie.table.cdc.enabled", "hoodie.datasource.write.hive_style_partitioning"
ENCODED, LOGGED = "hoodie.datasource.write.partitionpath.urlencode", "hoodie.table.cdc.supplemental.logging.mode"


@pytest.mark.parametrize(("stands", "declared", "refused"), [
    ({CDC: "false"}, {CDC: "true"}, True), ({CDC: "true"}, {CDC: "false"}, True), ({CDC: "true"}, {}, False),
    ({CDC: "true"}, {CDC: "TRUE"}, False), ({HIVE: "false"}, {HIVE: "true"}, True), ({"a": "b"}, {ENCODED: "true"}, True),
    ({ENCODED: "true"}, {ENCODED: "true"}, False), ({CDC: "true"}, {CDC: "true", LOGGED: "OP_KEY_ONLY"}, True),
    ({}, {CDC: "true"}, False),
])
def test_a_setting_of_the_table(stands: dict[str, str], declared: dict[str, str], refused: bool) -> None:
    table = a_target(properties=stands)
    if not refused:
        assert compare_target(a_spec(write_options=declared), table) == ()
        return
    with pytest.raises(StateError) as error:
        compare_target(a_spec(write_options=declared), table)
    assert error.value.code == "SETTING_CHANGED"
    assert {error.value.details["key"]: error.value.details["after"]}.items() <= declared.items()
