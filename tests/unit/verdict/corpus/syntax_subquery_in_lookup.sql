-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}, e: {columns: id* y updated_at^}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:e@13:19"
-- why: "What is looked up is filtered by a table that does not drive."
-- pairs:
-- - {from: "WHERE x > (SELECT min(y) FROM e)", to: "WHERE x > 1", expect: "exact", why: "A filter by a constant."}
-- - {from: "WHERE x > (SELECT min(y) FROM e)", to: "WHERE id NOT IN (SELECT id FROM e)", expect: "inexact INPUT_DOES_NOT_DRIVE:e@13:19", why: "The same by NOT IN."}
-- - {from: "WHERE x > (SELECT min(y) FROM e)", to: "WHERE EXISTS (SELECT 1 FROM e WHERE e.id = d.id)", expect: "inexact INPUT_DOES_NOT_DRIVE:e@13:19", why: "The same by EXISTS."}
-- - {from: "WHERE x > (SELECT min(y) FROM e)", to: "WHERE EXISTS (SELECT 1 FROM e WHERE e.id = d.id)", set: {inputs: {e_new: {of: e, drives: {id: a}}}}, expect: "exact", why: "By the key that drives."}
-- - {from: "WHERE x > (SELECT min(y) FROM e)", to: "WHERE id NOT IN (SELECT y FROM e)", set: {inputs: {e_new: {of: e, drives: {y: a}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:e@13:19", why: "One null in it, and no row is left."}
SELECT s.id, f.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN (SELECT id, x FROM d WHERE x > (SELECT min(y) FROM e)) f ON f.id = s.a
