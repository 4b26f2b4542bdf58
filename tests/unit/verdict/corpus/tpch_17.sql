-- source: lines
-- inputs: {rows: {of: SRC}}
-- target: k* avg_yearly computed_upto^ _hoodie_is_deleted
-- expect: "inexact GROUP_MAY_VANISH@6:6"
-- why: "Everything is one group, of which any change makes the row anew; when the source is empty, nothing takes it out."
WITH touched AS (SELECT DISTINCT 'all' AS k FROM <SRC>),
sums AS (
  SELECT sum(r.volume) AS avg_yearly
  FROM rows r
  WHERE r.p_brand = 'Brand#23'
)
SELECT t.k, s.avg_yearly, <SRC_INSTANT> AS computed_upto, false AS _hoodie_is_deleted
FROM touched t
CROSS JOIN sums s
