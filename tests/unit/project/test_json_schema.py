"""The JSON Schema that editors complete from."""

from __future__ import annotations

from freshet.project.shape.json_schema import json_schema


def test_both_shapes_and_every_key_is_described() -> None:
    schema = json_schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for kind in ("pipeline", "config"):
        shape = schema["$defs"][kind]
        assert shape["additionalProperties"] is False
        assert all("description" in value for value in shape["properties"].values())
    assert "warehouse" not in schema["$defs"]["pipeline"]["properties"]
    assert schema["$defs"]["pipeline"]["required"] == ["ddl"]
    assert schema["$defs"]["pipeline"]["anyOf"][0] == {"required": ["transform"]}
    assert set(json_schema("config")["$defs"]) == {"hoodie", "config", "Lease", "Run", "Metrics", "Lineage", "Budget"}


def test_hudis_keys_are_offered_and_others_refused() -> None:
    hoodie = json_schema("pipeline")["$defs"]["hoodie"]
    assert hoodie["additionalProperties"] is False
    known = hoodie["properties"]
    assert known["hoodie.compact.inline"] == {"type": ["boolean", "string"], "default": False}
    assert known["hoodie.index.type"]["enum"] == ["BUCKET", "RECORD_INDEX", "HBASE"]
    assert "description" in known["hoodie.streamer.source.hoodieincr.path"]
    assert known["hoodie.deltastreamer.source.hoodieincr.path"]["deprecated"] is True
    assert "hoodie.table.name" not in known


def test_it_is_deterministic() -> None:
    assert json_schema() == json_schema()
