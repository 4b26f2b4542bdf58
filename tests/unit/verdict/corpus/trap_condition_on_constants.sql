-- expect: "inexact ROWS_FILTERED@7:19"
-- why: "The constant that a finds, or none: what the condition says follows from a."
-- pairs:
-- - {from: "m.k = s.a", to: "m.k = s.id", expect: "exact", why: "From what never changes."}
SELECT s.id, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
WHERE (SELECT max(m.k) FROM (VALUES (1), (2)) AS m(k) WHERE m.k = s.a) IS NOT NULL
