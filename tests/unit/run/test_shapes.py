"""Where the columns of a source come from: the DDL, the file of cases, the table as it stands."""

from __future__ import annotations

from freshet.cases.load import Shape
from freshet.cases.schemas import passes_deletes_on, shapes_of
from freshet.hudi.options import IS_DELETED
from freshet.hudi.table import MemoryState
from freshet.types.columns import Atomic, Column
from tests.kit.memory import AVRO_TYPES, CITIES, SOURCE, a_commit, a_spec, a_table_spec, a_table_state, an_avro_schema

TOLD = Shape(columns=(Column(name="told", type=Atomic("string")),), record_key=("told",))
MARK = Column(name=IS_DELETED, type=Atomic("boolean"))


def _names(shape: Shape) -> list[str]:
    return [c.name for c in shape.columns]


def test_what_nobody_knows_is_left_out() -> None:
    assert shapes_of(a_spec(), {}, {}, MemoryState({})) == {}


def test_a_ddl_counts_before_a_file_of_cases_and_that_before_the_table() -> None:
    standing = a_table_state([a_commit(1, extra={"schema": an_avro_schema(AVRO_TYPES)})])
    state = MemoryState({SOURCE.path: standing})
    found = shapes_of(a_spec(), {}, {}, state)["SRC"]
    assert _names(found) == list(AVRO_TYPES)
    assert (found.record_key, found.partition_by, found.ordering) == (("trip_id",), ("day",), "updated_at")
    assert shapes_of(a_spec(), {}, {"SRC": TOLD, "cities": TOLD}, state) == {"SRC": TOLD, "cities": TOLD}
    by_ddl = {CITIES.path: a_table_spec(record_key=("city",))}
    assert shapes_of(a_spec(), by_ddl, {"cities": TOLD}, MemoryState({}))["cities"].record_key == ("city",)


def test_a_pipeline_that_knows_deletes_is_given_the_mark() -> None:
    with_mark = a_spec(target={"columns": (*a_table_spec().columns, MARK)})
    assert _names(shapes_of(with_mark, {}, {"SRC": TOLD}, MemoryState({}))["SRC"]) == ["told", IS_DELETED]
    assert not passes_deletes_on(a_spec())
    assert passes_deletes_on(a_spec(source={"incremental_format": "cdc"}))
    ignoring = a_spec(target={"columns": (*a_table_spec().columns, MARK)}, source={"incremental_format": "latest_state"})
    assert not passes_deletes_on(ignoring)
