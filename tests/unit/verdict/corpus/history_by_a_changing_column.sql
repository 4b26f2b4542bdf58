-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}}
-- target: id* n at^ _hoodie_is_deleted
-- expect: "inexact OLD_GROUP_NOT_TOUCHED:g@7:8"
-- why: "A row that leaves a group changes the ranks of those that stay."
WITH c AS (SELECT id, g, _hoodie_is_deleted FROM <SRC>)
SELECT h.id, row_number() OVER (PARTITION BY h.g ORDER BY h.id) AS n, <SRC_INSTANT> AS at, false AS _hoodie_is_deleted
FROM rows h
LEFT SEMI JOIN c ON c.g = h.g
UNION ALL
SELECT c.id, 0 AS n, <SRC_INSTANT> AS at, true AS _hoodie_is_deleted
FROM c
WHERE c._hoodie_is_deleted
