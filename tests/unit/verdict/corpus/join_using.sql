-- source: id* a updated_at^
-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: id}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "USING makes one column of the two, the left one's."
-- pairs:
-- - {from: "LEFT JOIN", to: "JOIN", expect: "inexact INNER_JOIN_DROPS:d@13:6", why: "An inner join."}
-- - {from: "LEFT JOIN", to: "RIGHT JOIN", expect: "inexact OUTER_JOIN_OF_PART:SRC@13:12?", why: "The changed rows are on the side that may be missing."}
-- - {from: "LEFT JOIN", to: "FULL JOIN", expect: "inexact OUTER_JOIN_OF_PART:SRC@13:11?", why: "Each row of d without a changed partner is published."}
-- - {from: "SELECT id", to: "SELECT d.id", expect: "inexact KEYS_MAY_COLLIDE:id@11:8? KEY_MAY_CHANGE:id@11:8", why: "The other side's column is null where it has no row."}
SELECT id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d USING (id)
