-- inputs: {d: {columns: id* x since updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Which row of d counts follows from the row and from d, and both bring the row."
-- pairs:
-- - {from: "d.id = s.a AND", to: "d.id <> s.a AND", expect: "inexact FAN_OUT:d@10:11? INPUT_DOES_NOT_DRIVE:d@10:11", why: "Nothing is held equal."}
-- - {from: "AND d.since <= s.b", to: "OR d.since <= s.b", expect: "inexact FAN_OUT:d@10:11? INPUT_DOES_NOT_DRIVE:d@10:11", why: "Nothing is sure to be equal."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a AND d.since <= s.b
