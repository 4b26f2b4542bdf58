-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: g* n total at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "GROUP BY ALL is by each column that aggregates nothing."
-- pairs:
-- - {from: "GROUP BY ALL", to: "GROUP BY g", expect: "exact", why: "The same by its name."}
-- - {from: "SELECT r.g, count(*)", to: "SELECT r.g, r.v, count(*)", expect: "inexact FAN_OUT:rows@23:99?", why: "A group of each value: several for one of <SRC>."}
-- - {from: "SELECT r.g, count(*) AS n", to: "SELECT r.g, 1 AS n", expect: "exact", why: "A constant in a group's name."}
-- - {from: "FROM rows r\n", to: "FROM (SELECT *, id AS all FROM rows) r\n", expect: "inexact NOT_ANALYSED@18:10?", why: "Spark takes ALL for a column where there is one of the name."}
-- - {from: "sum(r.v) AS total\n", to: "sum(r.v) AS total, r.*\n", set: {facts: false}, expect: "inexact NOT_ANALYSED@18:10?", why: "Of the columns nobody knows."}
WITH t AS (
  SELECT g FROM <SRC>
  UNION
  SELECT b.g FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id
), s AS (
  SELECT r.g, count(*) AS n, sum(r.v) AS total
  FROM rows r
  LEFT SEMI JOIN t ON t.g = r.g
  GROUP BY ALL
)
SELECT t.g, s.n, s.total, <SRC_INSTANT> AS at, s.g IS NULL AS _hoodie_is_deleted FROM t LEFT JOIN s ON s.g = t.g
