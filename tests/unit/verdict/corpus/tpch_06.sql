-- source: lineitem
-- inputs: {rows: {of: SRC}}
-- target: k* revenue computed_upto^ _hoodie_is_deleted
-- expect: "inexact GROUP_MAY_VANISH@6:6"
-- why: "Everything is one group, of which any change makes the row anew; when the source is empty, nothing takes it out."
WITH touched AS (SELECT DISTINCT 'all' AS k FROM <SRC>),
sums AS (
  SELECT sum(r.l_extendedprice * r.l_discount) AS revenue
  FROM rows r
  WHERE r.l_quantity < 24
)
SELECT t.k, s.revenue, <SRC_INSTANT> AS computed_upto, false AS _hoodie_is_deleted
FROM touched t
CROSS JOIN sums s
