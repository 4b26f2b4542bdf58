-- inputs: {d: {columns: id* e_id updated_at^}, e: {columns: id* y updated_at^}, d_new: {of: d, drives: {id: a}}, e_new: {of: e, drives: {id: a}}}
-- target: id* y updated_at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:e@8:11"
-- why: "e hangs on a column of d, which no column of the source names."
SELECT s.id, e.y, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a
LEFT JOIN e ON e.id = d.e_id
