-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Both sides are of the same row of <SRC>."
-- pairs:
-- - {from: "y.id = x.id", to: "y.id = x.a", expect: "inexact GROUP_IN_PART:SRC@11:6", why: "The row of another id did not change in the same run."}
-- - {from: "y.id = x.id", to: "y.id = x.id AND y.b = x.b", expect: "inexact INNER_JOIN_DROPS:SRC@11:6", why: "A row with null drops out."}
-- - {from: "FROM <SRC> WHERE id > 0", to: "FROM <SRC> WHERE b > 0", expect: "inexact ROWS_FILTERED@8:109", why: "The other side is filtered."}
WITH x AS (SELECT id, a, b, updated_at, _hoodie_is_deleted FROM <SRC>), y AS (SELECT id, b FROM <SRC> WHERE id > 0)
SELECT x.id, y.b AS x, x.updated_at, x._hoodie_is_deleted
FROM x
JOIN y ON y.id = x.id
