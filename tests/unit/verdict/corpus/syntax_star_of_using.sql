-- inputs: {d: {columns: a* y d_at^}, d_new: {of: d, drives: {a: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "What is joined by comes first in *: id is the second column."
-- pairs:
-- - {from: "t(x, id,", to: "t(id, x,", expect: "inexact KEYS_MAY_COLLIDE:id@8:6 KEY_MAY_CHANGE:id@8:6", why: "What is called id here is a, which may change."}
WITH s AS (SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>),
e AS (SELECT a, y FROM d),
t(x, id, updated_at, _hoodie_is_deleted, y) AS (SELECT * FROM s LEFT JOIN e USING (a))
SELECT id, x, updated_at, _hoodie_is_deleted
FROM t
