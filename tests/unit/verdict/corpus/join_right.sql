-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "A LEFT JOIN that is written the other way round."
-- pairs:
-- - {from: "RIGHT", to: "LEFT", expect: "inexact OUTER_JOIN_OF_PART:SRC@10:11?", why: "All rows of d, each with what changed."}
-- - {from: "RIGHT", to: "FULL", expect: "inexact OUTER_JOIN_OF_PART:SRC@10:11?", why: "The same, and the changed rows."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM d
RIGHT JOIN <SRC> s ON d.id = s.a
