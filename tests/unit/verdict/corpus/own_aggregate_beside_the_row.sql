-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, rows_new: {of: SRC, drives: {g: g}}}
-- target: id* v share at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The group's sum beside each row, and a change of the group brings all of its rows."
-- pairs:
-- - {set: {inputs: {rows_new: null}}, expect: "inexact INPUT_DOES_NOT_DRIVE:rows@12:11", why: "The other rows of the group keep the old sum."}
-- - {from: "WHERE v > 0", to: "WHERE g > 0", expect: "exact", why: "A filter on what is summed is a part of the sum."}
WITH sums AS (SELECT g, sum(v) AS total FROM rows WHERE v > 0 GROUP BY g)
SELECT s.id, s.v, s.v - t.total AS share, <SRC_INSTANT> AS at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN sums t ON t.g = s.g
