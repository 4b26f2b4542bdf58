-- source: id* a updated_at^
-- inputs: {d: {columns: id* x}, d_new: {of: d, drives: {id: id}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "The columns of both are known, and id is the only one that both have."
-- pairs:
-- - {set: {facts: false}, expect: "inexact NOT_ANALYSED@12:19?", why: "Without the columns nobody knows what it joins by."}
-- - {set: {inputs: {d: {columns: id* x a}}}, expect: "exact", why: "By a as well: fewer rows are found, and more are brought."}
SELECT id, x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
NATURAL LEFT JOIN d
