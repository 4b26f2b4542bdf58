-- target: id* k v updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The union has each row once."
-- pairs:
-- - {from: "FROM u", to: "FROM u WHERE NOT _hoodie_is_deleted", expect: "inexact DELETES_STAY:SRC@16:18", why: "The deleted ones are not in the result."}
-- - {from: "FROM u", to: "FROM u WHERE k = 'live'", expect: "inexact DELETES_STAY:SRC@16:14", why: "The same by the column that tells the two apart."}
-- - {from: "FROM u", to: "FROM u WHERE v > 1", expect: "inexact ROWS_FILTERED@16:14", why: "A row that is not wanted any more stays."}
-- - {from: "FROM u", to: "FROM u WHERE id > 1", expect: "exact", why: "By what never changes."}
-- - {set: {target: id* k* v updated_at^ _hoodie_is_deleted}, expect: "inexact KEY_MAY_CHANGE:k@10:6", why: "The key of a deleted row is another one."}
WITH u AS (
  SELECT id, 'live' AS k, a AS v, updated_at, false AS _hoodie_is_deleted FROM <SRC> WHERE NOT _hoodie_is_deleted
  UNION ALL
  SELECT id, 'dead' AS k, NULL AS v, updated_at, true AS _hoodie_is_deleted FROM <SRC> WHERE _hoodie_is_deleted
)
SELECT id, k, v, updated_at, _hoodie_is_deleted
FROM u
