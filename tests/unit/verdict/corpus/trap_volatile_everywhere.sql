-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact NOT_DETERMINISTIC:uuid@6:36 NOT_DETERMINISTIC:rand@9:16 PARTNER_DECIDES_ROWS:d@10:29 NOT_DETERMINISTIC:current_date@10:54"
-- why: "In a CTE, in a join's condition and in a subquery, each once."
WITH one AS (SELECT s.*, uuid() AS u FROM <SRC> s)
SELECT s.id, s.u AS a, s.updated_at, s._hoodie_is_deleted
FROM one s
LEFT JOIN d ON d.id = s.a AND rand() > 0.5
WHERE EXISTS (SELECT 1 FROM d e WHERE e.id = s.a AND e.updated_at < current_date)
