-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: g* n total at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each group that was touched, with what is left of it, and marked where that is nothing."
-- pairs:
-- - {from: "count(r.id) = 0 AS", to: "max(r.id) IS NULL AS", expect: "exact", why: "The same in other words."}
-- - {from: "count(r.id) = 0 AS", to: "count(*) = 0 AS", expect: "inexact GROUP_MAY_VANISH@12:6", why: "It counts the group itself: never 0."}
-- - {from: "count(r.id) = 0 AS", to: "count(r.id) = 1 AS", expect: "inexact GROUP_MAY_VANISH@12:6", why: "Not marked where nothing is left."}
-- - {from: "LEFT JOIN rows r", to: "JOIN rows r", expect: "inexact GROUP_MAY_VANISH@12:6 INPUT_DOES_NOT_DRIVE:rows@12:6 GROUP_IN_PART:rows@17:10?", why: "An empty group is not in the result."}
-- - {from: "c UNION SELECT", to: "c UNION ALL SELECT", expect: "inexact FAN_OUT:union@13:14?", why: "A group is named by each of its rows that changed, and each row counts as often."}
WITH c AS (SELECT id, g FROM <SRC>),
t AS (SELECT g FROM c UNION SELECT b.g FROM before b LEFT SEMI JOIN c ON c.id = b.id)
SELECT t.g, count(r.id) AS n, sum(r.v) AS total, <SRC_INSTANT> AS at, count(r.id) = 0 AS _hoodie_is_deleted
FROM t
LEFT JOIN rows r ON r.g = t.g
GROUP BY t.g
