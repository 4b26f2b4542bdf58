-- inputs: {d: {columns: id* since* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "One version by its whole key."
-- pairs:
-- - {from: "d.since = s.b", to: "d.since = 1", expect: "exact", why: "A constant is as good as a column."}
-- - {from: "d.since = s.b", to: "d.since <= s.b", expect: "inexact FAN_OUT:d@10:11?", why: "All that began before."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a AND d.since = s.b
