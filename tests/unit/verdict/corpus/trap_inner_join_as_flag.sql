-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The row without a partner is in the result, and marked."
-- pairs:
-- - {from: "LEFT JOIN", to: "INNER JOIN", expect: "inexact INNER_JOIN_DROPS:d@10:12", why: "The row that has no partner is not there to be marked."}
-- - {from: "d.id IS NULL", to: "d.x IS NULL", expect: "exact", why: "Whatever is said of a row that is in the result may decide."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted OR d.id IS NULL AS _hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a
