-- source: id* g h k v updated_at^
-- inputs: {rows: {of: SRC}, rows_new: {of: SRC, drives: {h: g}}, before: {of: SRC, as_of: checkpoint}, d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: k}}}
-- target: g* n m at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:d@15:11"
-- why: "A row of d that changes brings rows, which name their own groups, and not those whose g is their h."
-- pairs:
-- - {from: "SELECT r.h, sum(d.x)", to: "SELECT r.g AS h, sum(d.x)", set: {inputs: {rows_new: null}}, expect: "exact", why: "Both find the rows of the group."}
WITH c AS (SELECT id, g FROM <SRC>),
t AS (SELECT g FROM c UNION SELECT b.g FROM before b LEFT SEMI JOIN c ON c.id = b.id),
s AS (SELECT r.g, count(*) AS n FROM rows r GROUP BY r.g),
o AS (SELECT r.h, sum(d.x) AS m FROM rows r LEFT JOIN d ON d.id = r.k GROUP BY 1)
SELECT t.g, s.n, o.m, <SRC_INSTANT> AS at, s.g IS NULL AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.g = t.g
LEFT JOIN o ON o.h = t.g
