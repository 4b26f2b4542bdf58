-- inputs: {t: {columns: t_id* id x updated_at^}, t_new: {of: t, drives: {id: id}}}
-- target: id* x* updated_at^ _hoodie_is_deleted
-- expect: "inexact KEY_MAY_CHANGE:x@5:8 FAN_OUT:t@7:11"
-- why: "A tip that goes leaves its row behind."
SELECT s.id, t.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN t ON t.id = s.id
