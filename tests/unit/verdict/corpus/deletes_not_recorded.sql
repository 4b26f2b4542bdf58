-- source: id* g v day/! updated_at^
-- inputs: {rows: {of: SRC, on: {day: day}}, before: {of: SRC, on: {day: day}, as_of: checkpoint}}
-- target: g* day* n total at^ _hoodie_is_deleted
-- records: false
-- expect: "inexact DELETES_STAY:SRC@20:6"
-- why: "The source keeps no change data: a group of which a row is deleted is named by no increment, and keeps what it had."
-- pairs:
-- - {set: {records: true}, expect: "exact", why: "A deleted row names its group."}
CACHE TABLE changed AS
SELECT id, g, day FROM <SRC>;

CACHE TABLE touched AS
SELECT g, day FROM changed
UNION
SELECT b.g, b.day
FROM before b
LEFT SEMI JOIN changed c ON c.id = b.id
;

WITH sums AS (
  SELECT r.g, r.day, count(*) AS n, sum(r.v) AS total, max(r.updated_at) AS m
  FROM rows r
  LEFT SEMI JOIN touched t ON t.g = r.g AND t.day = r.day
  GROUP BY r.g, r.day
)
SELECT t.g, t.day, coalesce(s.n, 0) AS n, s.total, <SRC_INSTANT> AS at, s.g IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.g = t.g AND s.day = t.day
