-- target: id* n updated_at^ _hoodie_is_deleted
-- expect: "inexact ROWS_FILTERED@10:12"
-- why: "A group that fulfils HAVING once and then no more stays."
-- pairs:
-- - {from: "max(a) > 1", to: "id > 1", expect: "exact", why: "The group's key never changes."}
-- - {from: "\nHAVING max(a) > 1", to: "", expect: "exact", why: "Each group is one row of the source."}
SELECT id, max(a) AS n, max(updated_at) AS updated_at, max(_hoodie_is_deleted) AS _hoodie_is_deleted
FROM <SRC>
GROUP BY id
HAVING max(a) > 1
