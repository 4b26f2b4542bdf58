-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "What it asks of the row itself follows from the row."
-- pairs:
-- - {from: "FROM <SRC> s", to: "FROM <SRC> s\nWHERE s.id > 5 OR EXISTS (SELECT 1 FROM <SRC> o WHERE o.id = s.id AND o.a > 1)", expect: "inexact ROWS_FILTERED@9:7", why: "A row that it no longer holds for is dropped."}
-- - {from: "FROM <SRC> s", to: "FROM <SRC> s\nWHERE (SELECT max(o.id) FROM <SRC> o WHERE o.id = s.id AND o.a > 1) IS NOT NULL", expect: "inexact GROUP_IN_PART:SRC@9:19", why: "The same in other words."}
SELECT s.id, CASE WHEN EXISTS (SELECT 1 FROM <SRC> o WHERE o.id = s.id AND o.a > 1) THEN 1 ELSE 0 END AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
