-- target: id* line* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each row with each of a list of constants."
-- pairs:
-- - {from: "('u', 1), ('v', 2)", to: "('u', 1), ('u', 2)", expect: "inexact KEYS_MAY_COLLIDE:a list of constants@11:8", why: "Two rows of the list have one value."}
-- - {from: "CROSS JOIN", to: "JOIN", expect: "exact", why: "The same without a condition."}
-- - {from: "SELECT s.id, l.line,", to: "SELECT s.id, l.line, l.n,", expect: "exact", why: "One more column.", model: false}
-- - {from: "SELECT s.id, l.line,", to: "SELECT s.id, l.n AS line,", expect: "exact", why: "Either of the two columns tells the rows apart."}
-- - {from: "l.n * s.a AS x", to: "l.n * s.a AS x, l.line AS other", set: {target: id* x updated_at^ _hoodie_is_deleted}, expect: "inexact KEYS_MAY_COLLIDE:line, other@11:8", why: "The list's column is not in the key."}
-- - {from: "SELECT s.id, l.line,", to: "SELECT DISTINCT s.id, 'u' AS line,", expect: "inexact KEYS_MAY_COLLIDE:a list of constants@11:17", why: "The rows of one row differ in x, and no column that tells them apart is in the key."}
SELECT s.id, l.line, l.n * s.a AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
CROSS JOIN (VALUES ('u', 1), ('v', 2)) AS l(line, n)
