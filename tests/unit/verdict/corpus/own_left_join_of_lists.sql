-- target: id* n updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "The row is there whatever its list holds, and what is counted of it follows from the row."
-- pairs:
-- - {from: "LEFT JOIN", to: "JOIN", expect: "inexact ROWS_FILTERED:explode@10:24?", why: "A row whose list has become empty is dropped."}
WITH l AS (
  SELECT s.id, count(*) AS n
  FROM <SRC> s
  LATERAL VIEW explode(s.c) e AS item
  GROUP BY s.id
)
SELECT s.id, coalesce(l.n, 0) AS n, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN l ON l.id = s.id
