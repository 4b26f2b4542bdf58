-- source: lines
-- inputs: {rows: {of: SRC}}
-- target: k* promo volume computed_upto^ _hoodie_is_deleted
-- expect: "inexact GROUP_MAY_VANISH@6:6"
-- why: "Everything is one group, of which any change makes the row anew; when the source is empty, nothing takes it out."
WITH touched AS (SELECT DISTINCT 'all' AS k FROM <SRC>),
sums AS (
  SELECT sum(CASE WHEN r.p_type = 'PROMO' THEN r.volume ELSE 0 END) AS promo, sum(r.volume) AS volume
  FROM rows r
  WHERE r.l_shipdate >= '1995-09-01'
)
SELECT t.k, s.promo, s.volume, <SRC_INSTANT> AS computed_upto, false AS _hoodie_is_deleted
FROM touched t
CROSS JOIN sums s
