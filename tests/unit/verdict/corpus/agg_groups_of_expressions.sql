-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: g* n at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Groups by what is computed of a row, the same of the rows of before, of now and of the whole table."
-- pairs:
-- - {from: "r AS (SELECT coalesce(g, 0) AS g", to: "r AS (SELECT coalesce(g, 1) AS g", expect: "inexact GROUP_MAY_VANISH@12:6 INPUT_DOES_NOT_DRIVE:rows@18:11", why: "The table's rows are grouped by something else."}
-- - {from: "r AS (SELECT coalesce(g, 0) AS g", to: "r AS (SELECT coalesce(v, 0) AS g", expect: "inexact GROUP_MAY_VANISH@12:6 INPUT_DOES_NOT_DRIVE:rows@18:11", why: "By another column."}
-- - {from: "UNION SELECT coalesce(b.g, 0)", to: "UNION SELECT coalesce(b.v, 0)", expect: "inexact BEFORE_AS_DATA@13:14?", why: "The groups of before are others."}
-- - {from: "s.n IS NULL AS", to: "false AS", expect: "inexact GROUP_MAY_VANISH@12:6", why: "A group that is empty stays."}
-- - {from: "r AS (SELECT coalesce(g, 0) AS g, v FROM rows)", to: "r AS (SELECT coalesce(o.g, 0) AS g, rows.v FROM rows LEFT JOIN rows o ON o.id = rows.v)", expect: "inexact GROUP_MAY_VANISH@12:6 INPUT_DOES_NOT_DRIVE:rows@18:11", why: "The group of another row, of which a change does not name this one's."}
WITH c AS (SELECT id, coalesce(g, 0) AS g FROM <SRC>),
t AS (SELECT g FROM c UNION SELECT coalesce(b.g, 0) AS g FROM before b LEFT SEMI JOIN c ON c.id = b.id),
r AS (SELECT coalesce(g, 0) AS g, v FROM rows),
s AS (SELECT r.g, count(*) AS n FROM r LEFT SEMI JOIN t ON t.g = r.g GROUP BY r.g)
SELECT t.g, s.n, <SRC_INSTANT> AS at, s.n IS NULL AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.g = t.g
