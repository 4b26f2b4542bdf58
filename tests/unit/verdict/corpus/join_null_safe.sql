-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "By equality a null finds nothing."
-- pairs:
-- - {from: "d.id = s.a", to: "d.id <=> s.a", expect: "exact", why: "A record key is never null, so that it is the same comparison."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a
