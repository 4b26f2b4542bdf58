-- source: id* at v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: day* n ran^ _hoodie_is_deleted
-- expect: "exact"
-- model: false
-- why: "The table is narrowed to the days that were touched by an expression, and grouped by the same."
-- pairs:
-- - {from: "ON t.day = date_trunc('DAY', r.at)", to: "ON t.day = date_trunc('HOUR', r.at)", expect: "inexact GROUP_IN_PART:rows@20:28? GROUP_IN_PART:rows@25:95?", why: "Narrowed by another one."}
-- - {from: "SELECT date_trunc('DAY', r.at)", to: "SELECT date_trunc('WEEK', r.at)", expect: "inexact GROUP_MAY_VANISH@15:6 GROUP_IN_PART:rows@20:29? GROUP_IN_PART:rows@25:95? INPUT_DOES_NOT_DRIVE:rows@25:95", why: "Grouped by another one: of the week only the days that were touched are there."}
-- - {from: "ON t.day = date_trunc('DAY', r.at)", to: "ON date_trunc('DAY', r.at) = t.day", expect: "exact", why: "The other way around."}
-- - {from: "LEFT SEMI JOIN t ON t.day = date_trunc('DAY', r.at)", to: "JOIN t ON t.day = date_trunc('DAY', r.at)", expect: "exact", why: "Each day is there once."}
-- - {from: "SELECT date_trunc('DAY', r.at) AS day, count(*) AS n\n  FROM rows r\n  LEFT SEMI JOIN t ON t.day = date_trunc('DAY', r.at)\n  GROUP BY 1", to: "SELECT day, count(*) AS n FROM (SELECT date_trunc('DAY', r.at) AS day, r.v FROM rows r LEFT SEMI JOIN t ON t.day = date_trunc('DAY', r.at)) GROUP BY day", expect: "exact", why: "In two steps."}
-- - {from: "SELECT date_trunc('DAY', r.at) AS day, count(*) AS n\n  FROM rows r\n  LEFT SEMI JOIN t ON t.day = date_trunc('DAY', r.at)\n  GROUP BY 1", to: "SELECT day, count(*) AS n FROM (SELECT r.at AS day, r.v FROM rows r LEFT SEMI JOIN t ON t.day = date_trunc('DAY', r.at)) GROUP BY day", expect: "inexact GROUP_MAY_VANISH@15:6 GROUP_IN_PART:rows@20:133? GROUP_IN_PART:rows@22:95? INPUT_DOES_NOT_DRIVE:rows@22:95", why: "A column of the same table, which is not the expression."}
-- - {from: "LEFT SEMI JOIN t ON t.day = date_trunc('DAY', r.at)", to: "LEFT JOIN rows o ON o.id = r.v LEFT SEMI JOIN t ON t.day = date_trunc('DAY', o.at)", expect: "inexact GROUP_MAY_VANISH@15:6 GROUP_IN_PART:rows@20:28? GROUP_IN_PART:rows@25:95? INPUT_DOES_NOT_DRIVE:rows@25:95", why: "The day of another row."}
WITH t AS (
  SELECT date_trunc('DAY', at) AS day FROM <SRC>
  UNION
  SELECT date_trunc('DAY', b.at) AS day FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id
), s AS (
  SELECT date_trunc('DAY', r.at) AS day, count(*) AS n
  FROM rows r
  LEFT SEMI JOIN t ON t.day = date_trunc('DAY', r.at)
  GROUP BY 1
)
SELECT t.day, s.n, <SRC_INSTANT> AS ran, s.day IS NULL AS _hoodie_is_deleted FROM t LEFT JOIN s ON s.day = t.day
