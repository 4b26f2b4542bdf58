-- source: id* g v day updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}, e: {columns: e_id* g day/ x updated_at^, on: {day: day}}, e_new: {of: e, drives: {day: day}}}
-- target: day* n at^ _hoodie_is_deleted
-- expect: "inexact PARTITIONS_IN_PART:e@18:11?"
-- why: "The old day of a row that changed its day is touched, and its partition of e is not read."
-- pairs:
-- - {set: {inputs: {e: {on: null}}}, expect: "exact", why: "Read whole."}
-- - {set: {source: id* g v day/ updated_at^}, expect: "exact", why: "A partition column of the source: the row is in <SRC> as it was, too."}
WITH t AS (
  SELECT day FROM <SRC>
  UNION
  SELECT b.day FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id
), s AS (SELECT day, count(*) AS n FROM rows GROUP BY day),
o AS (SELECT day, sum(x) AS x FROM e GROUP BY day)
SELECT t.day, coalesce(o.x, 0) + coalesce(s.n, 0) AS n, <SRC_INSTANT> AS at, s.day IS NULL AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.day = t.day
LEFT JOIN o ON o.day = t.day
