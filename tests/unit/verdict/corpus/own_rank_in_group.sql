-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, rows_new: {of: SRC, drives: {g: g}}}
-- target: id* n at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Whatever row of a group changes brings all rows of its groups of now and of before."
-- pairs:
-- - {set: {inputs: {rows_new: {drives: {id: id}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:rows@13:11", why: "A change brings its own row alone."}
-- - {from: "PARTITION BY g", to: "PARTITION BY v", expect: "inexact INPUT_DOES_NOT_DRIVE:rows@13:11", why: "The rows of the same v are not brought."}
-- - {from: "ORDER BY v, id", to: "ORDER BY v", expect: "inexact ORDER_IS_OPEN:row_number@10:63?", model: false, why: "Two rows may have one v."}
WITH ranked AS (SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY v, id) AS n FROM rows)
SELECT s.id, r.n, <SRC_INSTANT> AS at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN ranked r ON r.id = s.id AND r.g = s.g
