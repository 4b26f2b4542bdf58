-- source: id* a updated_at^
-- inputs: {days: {columns: d_id* id x updated_at^}, changed_days: {of: days, drives: {id: id}}}
-- target: id* a n total at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "A row with the sum of all that hangs on it, narrowed to the rows that changed."
-- pairs:
-- - {from: "p.id = d.id", to: "p.a = d.id", expect: "inexact GROUP_IN_PART:days@19:11?", why: "Narrowed by another column than the one that is asked."}
-- - {from: "FROM days d", to: "FROM changed_days d", expect: "inexact LOOKBACK_IS_BOUNDED:changed_days@13:8", why: "Of the look-back alone."}
-- - {from: "SELECT * FROM <SRC>", to: "SELECT * FROM <SRC> WHERE id <> 2", expect: "exact", why: "What is left out by its key is so for ever."}
CACHE TABLE drivers AS SELECT * FROM <SRC>;
WITH totals AS (
  SELECT d.id, count(*) AS n, sum(d.x) AS total
  FROM days d
  LEFT SEMI JOIN drivers p ON p.id = d.id
  GROUP BY d.id
)
SELECT p.id, p.a, coalesce(t.n, 0) AS n, t.total, <SRC_INSTANT> AS at, p._hoodie_is_deleted
FROM drivers p
LEFT JOIN totals t ON t.id = p.id
