-- source: id* payload updated_at^
-- target: id* a b updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "json_tuple makes one row of each, of nulls where the text is none."
-- pairs:
-- - {from: "LATERAL VIEW", to: "LATERAL VIEW OUTER", expect: "exact", why: "The same."}
-- - {from: "j.a, j.b, s.updated_at", to: "j.a, j.b, j.b AS updated_at", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@14:8", why: "What it finds may go back."}
-- - {from: "SELECT s.id", to: "SELECT j.a AS id", expect: "inexact KEYS_MAY_COLLIDE:id@14:8 KEY_MAY_CHANGE:id@14:8", why: "What it finds may change."}
-- - {from: "json_tuple(s.payload, 'a', 'b')", to: "json_tuple(s.payload, 'a', current_date())", expect: "inexact NOT_DETERMINISTIC:current_date@16:25", why: "Another field on another day."}
-- - {from: "SELECT s.id, j.a, j.b, s.updated_at, s._hoodie_is_deleted\nFROM <SRC> s\nLATERAL VIEW json_tuple(s.payload, 'a', 'b') j AS a, b", to: "SELECT id, json_tuple(payload, 'a', 'b') AS (a, b), updated_at, _hoodie_is_deleted FROM <SRC>", expect: "exact", why: "In the list of columns."}
-- - {from: "SELECT s.id, j.a, j.b, s.updated_at, s._hoodie_is_deleted\nFROM <SRC> s\nLATERAL VIEW json_tuple(s.payload, 'a', 'b') j AS a, b", to: "SELECT id, c0 AS a, c1 AS b, updated_at, _hoodie_is_deleted FROM (SELECT *, json_tuple(payload, 'a', 'b') FROM <SRC>)", expect: "exact", why: "By the names that Spark gives them."}
-- - {from: "json_tuple(s.payload, 'a', 'b') j AS a, b", to: "inline(from_json(s.payload, 'ARRAY<STRUCT<a: STRING, b: STRING>>')) j AS a, b", expect: "inexact FAN_OUT:inline@16:31?", why: "As many rows as the list has."}
SELECT s.id, j.a, j.b, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LATERAL VIEW json_tuple(s.payload, 'a', 'b') j AS a, b
