-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:d@9:11"
-- why: "It is looked up by a + 1, and brings the rows of a."
-- pairs:
-- - {from: "s.a + 1", to: "s.a", expect: "exact", why: "By the column that drives."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a + 1
