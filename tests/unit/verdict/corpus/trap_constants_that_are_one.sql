-- target: id* line* v updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "Two strings that differ."
-- pairs:
-- - {from: "'2' AS line", to: "1 AS line", expect: "inexact KEYS_MAY_COLLIDE:union@10:8?", why: "In a column of strings both are '1'."}
-- - {from: "'2' AS line", to: "lower('1') AS line", expect: "inexact KEYS_MAY_COLLIDE:union@10:8?", why: "What an expression gives is not known."}
-- - {from: "'2' AS line", to: "CAST('2' AS STRING) AS line", expect: "exact", why: "A string that differs."}
-- - {from: "'1' AS line", to: "2.0 AS line", expect: "inexact KEYS_MAY_COLLIDE:union@10:8?", why: "2.0 is no string."}
SELECT id, '1' AS line, a AS v, updated_at, _hoodie_is_deleted FROM <SRC>
UNION ALL
SELECT id, '2' AS line, b AS v, updated_at, _hoodie_is_deleted FROM <SRC>
