-- source: id* g k v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}, d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: k}}}
-- target: g* n at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "A row of d that changes brings the rows of its k, which name their groups."
-- pairs:
-- - {from: "LEFT JOIN d", to: "JOIN d", expect: "exact", why: "A row without one does not count, and is there as soon as it has one."}
-- - {set: {inputs: {d_new: {drives: {id: v}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@24:11", why: "What changed brings rows by another column."}
-- - {from: "d.id = r.k", to: "d.id <=> r.k", expect: "exact", why: "The key of d is never null."}
-- - {from: "sum(d.x) AS n\n  FROM rows r\n  LEFT JOIN d ON d.id = r.k", to: "sum(e.x) AS n\n  FROM rows r\n  LEFT JOIN d ON d.id = r.k\n  LEFT JOIN d e ON e.id = r.v", expect: "inexact INPUT_DOES_NOT_DRIVE:d@25:11", why: "A row of d that changes is found by v, too."}
-- - {from: "LEFT JOIN d ON d.id = r.k", to: "LEFT JOIN rows p ON p.id = r.v LEFT JOIN d ON d.id = p.k", expect: "inexact INPUT_DOES_NOT_DRIVE:d@24:11 INPUT_DOES_NOT_DRIVE:rows@24:11", why: "It brings p, which is of another group."}
-- - {from: "s.g IS NULL AS", to: "s.n IS NULL AS", expect: "exact", why: "A group of which nothing is summed is marked each time."}
-- - {from: "s.g IS NULL AS", to: "false AS", expect: "inexact GROUP_MAY_VANISH@14:6", why: "A group that is empty stays."}
WITH c AS (SELECT id, g FROM <SRC>),
t AS (SELECT g FROM c UNION SELECT b.g FROM before b LEFT SEMI JOIN c ON c.id = b.id),
s AS (
  SELECT r.g, sum(d.x) AS n
  FROM rows r
  LEFT JOIN d ON d.id = r.k
  GROUP BY r.g
)
SELECT t.g, s.n, <SRC_INSTANT> AS at, s.g IS NULL AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.g = t.g
