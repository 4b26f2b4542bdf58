-- target: id* n updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact ROWS_FILTERED:explode@14:22?"
-- why: "A row whose list has become empty gives no row, and stays published with what it was."
-- pairs:
-- - {from: "LATERAL VIEW", to: "LATERAL VIEW OUTER", expect: "exact", why: "It gives a row with null."}
-- - {from: "explode(s.c)", to: "explode_outer(s.c)", expect: "exact", why: "The same in other words."}
-- - {from: "explode(s.c)", to: "explode(array(s.a, s.b))", expect: "exact", why: "A list that is never empty."}
-- - {from: "LATERAL VIEW explode(s.c) l AS item\n", to: "LATERAL VIEW OUTER explode(s.c) l AS item\nWHERE item > 1\n", expect: "inexact ROWS_FILTERED@15:7", why: "The condition drops it."}
-- - {from: "LATERAL VIEW explode(s.c) l AS item\nGROUP BY s.id, s.updated_at, s._hoodie_is_deleted\n", to: "LATERAL VIEW OUTER explode(s.c) l AS item\nGROUP BY s.id, s.updated_at, s._hoodie_is_deleted\nHAVING count(*) > 1\n", expect: "inexact ROWS_FILTERED@16:14", why: "A list that has become shorter drops it."}
-- - {from: "SELECT s.id, count(*) AS n,", to: "SELECT DISTINCT s.id, 1 AS n,", expect: "inexact ROWS_FILTERED:explode@14:22?", why: "No row of which there would be one alone."}
SELECT s.id, count(*) AS n, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LATERAL VIEW explode(s.c) l AS item
GROUP BY s.id, s.updated_at, s._hoodie_is_deleted
