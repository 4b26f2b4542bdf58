-- inputs: {d: {columns: id* kind* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "Of each id one row is of the kind."
-- pairs:
-- - {from: "kind = 'net'", to: "kind <> 'net'", expect: "inexact FAN_OUT:d@11:19?", why: "Of each id several."}
-- - {from: "kind = 'net'", to: "kind = 1", expect: "inexact FAN_OUT:d@11:19?", why: "In a column of texts '1' and '01' are both 1."}
SELECT s.id, l.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN (SELECT id, x FROM d WHERE kind = 'net') l ON l.id = s.a
