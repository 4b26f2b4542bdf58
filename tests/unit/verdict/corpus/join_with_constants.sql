-- target: id* name updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Which row of the list it finds follows from the row, and a row that finds none is marked."
-- pairs:
-- - {from: "LEFT JOIN", to: "JOIN", expect: "inexact INNER_JOIN_DROPS:SRC@16:33", why: "A row whose a is none of the list any more is dropped, and stays published."}
-- - {from: "LEFT JOIN (VALUES (1, 5), (2, 6)) AS l(code, name) ON l.code = s.a", to: "JOIN (VALUES (1, 5), (2, 6)) AS l(code, name) ON l.code = s.id", expect: "exact", why: "Which row of the list it finds follows from what never changes."}
-- - {from: "LEFT JOIN (VALUES (1, 5), (2, 6)) AS l(code, name) ON l.code = s.a", to: "JOIN (SELECT 1 AS code, 5 AS name) l ON l.code < s.a", expect: "inexact INNER_JOIN_DROPS:SRC@16:19?", why: "Less than the constant, or not: it may change."}
-- - {from: "LEFT JOIN (VALUES (1, 5), (2, 6)) AS l(code, name) ON l.code = s.a", to: "JOIN (SELECT 1 AS code, 5 AS name) l ON TRUE", expect: "exact", why: "No condition at all."}
-- - {from: " OR l.code IS NULL", to: "", expect: "exact", why: "It is there with null."}
-- - {from: " OR l.code IS NULL AS _hoodie_is_deleted\nFROM <SRC> s\nLEFT JOIN (VALUES (1, 5), (2, 6)) AS l(code, name) ON l.code = s.a", to: " AS _hoodie_is_deleted\nFROM <SRC> s\nLEFT JOIN (VALUES (1, 5), (2, 6)) AS l(code, name) ON l.code = s.a\nWHERE l.code IS NOT NULL", expect: "inexact ROWS_FILTERED@17:7", why: "An inner join in other words."}
-- - {from: "SELECT s.id, l.name", to: "SELECT s.id, coalesce(l.name, 0) AS name", set: {target: id* name* updated_at^ _hoodie_is_deleted}, expect: "inexact KEY_MAY_CHANGE:name@14:8", why: "What it finds is part of the record key, and changes with a."}
-- - {from: "(VALUES (1, 5), (2, 6))", to: "(VALUES (1, 5), (2, 6), (2, 7))", expect: "inexact KEYS_MAY_COLLIDE:a list of constants@14:8", why: "One row of the list, or two."}
-- - {from: "SELECT s.id, l.name", to: "SELECT s.id, (SELECT max(m.x) FROM (VALUES (1, 5)) AS m(k, x) WHERE m.k = s.a) AS name", expect: "exact", why: "A value that is looked up in constants."}
SELECT s.id, l.name, s.updated_at, s._hoodie_is_deleted OR l.code IS NULL AS _hoodie_is_deleted
FROM <SRC> s
LEFT JOIN (VALUES (1, 5), (2, 6)) AS l(code, name) ON l.code = s.a
