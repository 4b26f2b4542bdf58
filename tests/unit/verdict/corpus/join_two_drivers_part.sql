-- inputs: {d: {columns: k1* k2* x updated_at^}, d_new: {of: d, drives: {k1: a, k2: b}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The whole key is looked up, and drives."
-- pairs:
-- - {set: {inputs: {d_new: {drives: null}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@10:11", why: "It does not drive.", model: false}
-- - {from: "d.k2 = s.b", to: "d.k2 = s.c", expect: "inexact INPUT_DOES_NOT_DRIVE:d@10:11", why: "One of the two that drive is not what is looked up."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.k1 = s.a AND d.k2 = s.b
