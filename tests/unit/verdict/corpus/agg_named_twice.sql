-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: g* n at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The same row of a group several times, of which one is written; a count of 0 marks it."
-- pairs:
-- - {from: "coalesce(s.n, 0) = 0", to: "coalesce(s.n, 1) = 0", expect: "inexact GROUP_MAY_VANISH@10:6", why: "Not true where nothing is found."}
-- - {from: "coalesce(s.n, 0) = 0", to: "0 = coalesce(s.n, 0)", expect: "exact", why: "The other way around."}
-- - {from: "SELECT t.g, s.n,", to: "SELECT t.g, row_number() OVER (PARTITION BY t.g ORDER BY t.g) AS n,", expect: "inexact FAN_OUT:union@11:14?", why: "The rows of one group are numbered."}
WITH c AS (SELECT id, g FROM <SRC>),
t AS (SELECT g FROM c UNION ALL SELECT b.g FROM before b LEFT SEMI JOIN c ON c.id = b.id),
s AS (SELECT r.g, count(*) AS n FROM rows r LEFT SEMI JOIN t ON t.g = r.g GROUP BY r.g)
SELECT t.g, s.n, <SRC_INSTANT> AS at, coalesce(s.n, 0) = 0 AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.g = t.g
