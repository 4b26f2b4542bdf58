-- inputs: {d: {columns: id* updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact PARTNER_DECIDES_ROWS:d@9:33"
-- why: "A row of d that comes later does not take the published row out."
-- pairs:
-- - {from: "NOT EXISTS", to: "EXISTS", expect: "inexact PARTNER_DECIDES_ROWS:d@9:29", why: "A row of d that goes does not take the published row out."}
SELECT s.id, s.a, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
WHERE NOT EXISTS (SELECT 1 FROM d WHERE d.id = s.a)
