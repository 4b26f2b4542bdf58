-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- exactness: row_by_row
-- expect: "inexact INPUT_DOES_NOT_DRIVE:d@11:11"
-- why: "The step may have made another value of a, and what drives is the source's."
SELECT * FROM <SRC>
-- python step
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a
