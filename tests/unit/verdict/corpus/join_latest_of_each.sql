-- inputs: {d: {columns: id* k x updated_at^}, d_new: {of: d, drives: {k: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "One row of each k: its first one."
-- pairs:
-- - {from: "n = 1", to: "n <= 2", expect: "inexact FAN_OUT:d@15:11?", why: "Two rows of each k."}
-- - {from: "row_number()", to: "rank()", expect: "inexact FAN_OUT:d@15:11?", why: "Two rows may be the first."}
-- - {from: "ORDER BY x DESC, id", to: "ORDER BY x DESC", expect: "inexact ORDER_IS_OPEN:row_number@11:68?", model: false, why: "Which of two rows with one x is the first is open."}
-- - {from: "PARTITION BY k", to: "PARTITION BY x", expect: "inexact FAN_OUT:d@15:11? INPUT_DOES_NOT_DRIVE:d@15:11", why: "The first one of each x, of which several may have one k."}
-- - {set: {inputs: {d_new: {drives: {id: a}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@15:11", why: "What changed names rows by another column."}
WITH numbered AS (SELECT id, k, x, row_number() OVER (PARTITION BY k ORDER BY x DESC, id) AS n FROM d),
latest AS (SELECT k, x FROM numbered WHERE n = 1)
SELECT s.id, l.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN latest l ON l.k = s.a
