-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "inexact INNER_JOIN_DROPS:d@12:6"
-- why: "The partner goes, its row is driven, and the join drops it."
-- pairs:
-- - {from: "JOIN", to: "LEFT JOIN", expect: "exact", why: "The row stays with null, as in the recompute."}
-- - {from: "JOIN", to: "LEFT SEMI JOIN", expect: "inexact PARTNER_DECIDES_ROWS:d@12:16", why: "A partner decides of the row without its columns, too."}
-- - {from: "JOIN", to: "LEFT ANTI JOIN", expect: "inexact PARTNER_DECIDES_ROWS:d@12:16", why: "The missing partner comes."}
-- - {from: "JOIN", to: "CROSS JOIN", expect: "inexact INNER_JOIN_DROPS:d@12:12", why: "A CROSS JOIN with ON is an inner join."}
SELECT s.id, coalesce(s.b, 0) AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
JOIN d ON d.id = s.a
