-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "inexact INNER_JOIN_DROPS:d@6:15"
-- why: "A join by WHERE is an inner one."
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s, d
WHERE d.id = s.a
