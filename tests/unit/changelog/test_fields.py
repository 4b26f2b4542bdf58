"""The ten fields: those of the published format, in one place, and the files that producers take."""

from __future__ import annotations

import io
import json

import fastavro
import pytest

from freshet.changelog.fields import FIELDS, event_type
from freshet.changelog.producers import FOLDER, event_avro, event_json_schema, files, record_avro
from freshet.types.columns import Column, Struct
from freshet.types.from_json import from_avro
from freshet.types.from_sql import parse_type

PUBLISHED = {
    "row_key": "string",
    "ref_key": "string",
    "changelog_columns": "array<struct<name:string,ref_key:string,changed_fields:array<string>>>",
    "source": "string",
    "timestamp": "bigint",
    "is_deleted": "boolean",
    "error_exception": "string",
    "error_source_data": "string",
    "force_update": "boolean",
    "data_center": "string",
}


def test_the_fields_are_the_ten_of_the_published_format() -> None:
    assert {field.name: str(field.type) for field in FIELDS} == PUBLISHED
    assert event_type() == parse_type(f"struct<{','.join(f'{name}:{kind}' for name, kind in PUBLISHED.items())}>")


@pytest.mark.parametrize("name", sorted(files()))
def test_the_shipped_files_are_made_of_the_fields(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == files()[name]
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(files())


def test_the_avro_and_the_json_schema_say_the_same() -> None:
    columns = {column.name: column for column in from_avro(event_avro())}
    schema = event_json_schema()
    assert list(columns) == list(schema["properties"]) == list(PUBLISHED)
    assert Struct(tuple((name, column.type) for name, column in columns.items())) == event_type()
    kinds = {"string": "string", "bigint": "integer", "boolean": "boolean"}
    for field in FIELDS:
        found = schema["properties"][field.name]
        expected = kinds.get(str(field.type), "array")
        assert found["type"] == (expected if field.required else [expected, "null"])
    assert schema["required"] == [field.name for field in FIELDS if field.required]


def test_a_producer_writes_a_row_with_its_event_and_an_event_may_leave_out_what_is_not_required() -> None:
    columns = [Column(name="id", type=parse_type("bigint")), Column(name="fare", type=parse_type("decimal(10,2)"))]
    columns += [Column(name="stops", type=parse_type("array<struct<at:timestamp,name:string>>"))]
    schema = fastavro.parse_schema(record_avro("trips", columns))
    out = io.BytesIO()
    event = {"row_key": "1", "ref_key": "7", "timestamp": 1, "changelog_columns": [{"name": "row", "changed_fields": None}]}
    fastavro.schemaless_writer(out, schema, {"id": 1, "_event": event})
    out.seek(0)
    read = fastavro.schemaless_reader(out, schema, None)
    assert isinstance(read, dict)
    assert read["_event"]["is_deleted"] is False
    assert read["_event"]["data_center"] is None
    assert json.dumps(record_avro("trips", columns)).count('"Event"') == 1


def test_a_name_that_avro_does_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match="no such name"):
        record_avro("trips", [Column(name="the fare", type=parse_type("int"))])
