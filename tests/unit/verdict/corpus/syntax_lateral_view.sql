-- target: id* line* updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "The same rows of each row."
-- pairs:
-- - {from: "explode(array('u', 'v'))", to: "explode(array('u', a))", expect: "inexact KEY_MAY_CHANGE:line@9:8 FAN_OUT:explode@11:33", why: "One of the two follows from a column."}
-- - {from: "explode(array('u', 'v'))", to: "explode(split(a, ','))", expect: "inexact KEY_MAY_CHANGE:line@9:8 FAN_OUT:explode@11:28", why: "As many as the value says."}
-- - {from: "LATERAL VIEW", to: "LATERAL VIEW OUTER", expect: "exact", why: "The same for a list that is never empty."}
SELECT id, line, updated_at, _hoodie_is_deleted
FROM <SRC>
LATERAL VIEW explode(array('u', 'v')) t AS line
