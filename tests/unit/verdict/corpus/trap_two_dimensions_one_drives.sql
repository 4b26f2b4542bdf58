-- inputs: {d: {columns: id* x updated_at^}, e: {columns: id* y updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x y updated_at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:e@10:11"
-- why: "Each table that the result follows from has to drive."
-- pairs:
-- - {set: {inputs: {e_new: {of: e, drives: {id: b}}}}, expect: "exact", why: "Both drive."}
SELECT s.id, d.x, e.y, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a
LEFT JOIN e ON e.id = s.b
