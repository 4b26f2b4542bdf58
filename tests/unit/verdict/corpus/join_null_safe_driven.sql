-- source: id* g p v updated_at^
-- inputs: {rows: {of: SRC}, rows_new: {of: SRC, drives: {g: p}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "What drives finds the rows of each value, and null is none that is looked for."
-- pairs:
-- - {from: "m.g = s.p", to: "m.g <=> s.p", expect: "inexact INPUT_DOES_NOT_DRIVE:rows@10:19", why: "A row whose p is null is looked for, and nothing brings it."}
SELECT s.id, m.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN (SELECT g, sum(v) AS x FROM rows GROUP BY g) m ON m.g = s.p
