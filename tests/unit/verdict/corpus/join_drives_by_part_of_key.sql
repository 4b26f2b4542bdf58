-- inputs: {d: {columns: k1* k2* x updated_at^}, d_new: {of: d, drives: {k1: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "More rows are brought than have to be."
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.k1 = s.a AND d.k2 = s.b
