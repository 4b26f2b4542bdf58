-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: g* n at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The group of null is found by null-safe joins."
-- pairs:
-- - {from: "s.g <=> t.g", to: "s.g = t.g", expect: "exact", why: "Of the group of null nothing is found, each time."}
-- - {from: "s.n IS NULL AS", to: "s.g IS NULL AS", expect: "exact", why: "The group of null is marked each time."}
WITH c AS (SELECT id, g FROM <SRC>),
t AS (SELECT g FROM c UNION SELECT b.g FROM before b LEFT SEMI JOIN c ON c.id = b.id),
s AS (SELECT r.g, count(*) AS n FROM rows r LEFT SEMI JOIN t ON t.g <=> r.g GROUP BY r.g)
SELECT t.g, s.n, <SRC_INSTANT> AS at, s.n IS NULL AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.g <=> t.g
