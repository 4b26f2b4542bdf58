-- source: id* a b updated_at^
-- target: id* n updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Grouped by the key, in whatever way it is named."
-- pairs:
-- - {from: "GROUP BY 1", to: "GROUP BY id", expect: "exact", why: "By its name."}
-- - {from: "GROUP BY 1", to: "GROUP BY k.id", expect: "exact", why: "By its full name."}
-- - {from: "GROUP BY 1", to: "GROUP BY ALL", expect: "exact", model: false, why: "By all columns that aggregate nothing, which is the one."}
-- - {from: "SELECT id,", to: "SELECT a AS id,", expect: "inexact GROUP_IN_PART:SRC@13:8", why: "The first column is another one."}
-- - {from: "GROUP BY 1", to: "GROUP BY 1 HAVING n > 0", expect: "inexact ROWS_FILTERED@15:19", why: "An alias in HAVING is what it stands for."}
-- - {from: "count(b)", to: "count(b) FILTER (WHERE a > 1)", expect: "exact", why: "What is counted is not which rows there are."}
-- - {from: "count(b)", to: "max(max(b)) OVER (PARTITION BY id)", expect: "exact", model: false, why: "A window over the group's one row."}
SELECT id, count(b) AS n, max(updated_at) AS updated_at, max(_hoodie_is_deleted) AS _hoodie_is_deleted
FROM <SRC> k
GROUP BY 1
