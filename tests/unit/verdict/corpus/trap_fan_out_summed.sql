-- inputs: {t: {columns: t_id* id x updated_at^}, t_new: {of: t, drives: {id: id}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "One row of the source finds one sum."
-- pairs:
-- - {from: "GROUP BY id", to: "GROUP BY id, x", expect: "inexact FAN_OUT:t@11:11?", why: "It may find several."}
-- - {from: "g.id = s.id", to: "g.id = s.a", expect: "inexact INPUT_DOES_NOT_DRIVE:t@11:11", why: "What changed names rows by another column."}
WITH g AS (SELECT id, sum(x) AS x FROM t GROUP BY id)
SELECT s.id, g.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN g ON g.id = s.id
