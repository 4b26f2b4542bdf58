-- source: lineitem
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: l_suppkey* total_revenue computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Every supplier with its revenue; the most is asked where it is read."
CACHE TABLE changed AS
SELECT l_orderkey, l_linenumber, l_suppkey FROM <SRC>;

CACHE TABLE touched AS
SELECT l_suppkey FROM changed
UNION
SELECT b.l_suppkey FROM before b LEFT SEMI JOIN changed c ON c.l_orderkey = b.l_orderkey AND c.l_linenumber = b.l_linenumber;

WITH sums AS (
  SELECT r.l_suppkey,
         sum(r.l_extendedprice) AS total_revenue
  FROM rows r
  LEFT SEMI JOIN touched t ON t.l_suppkey = r.l_suppkey
  WHERE r.l_shipdate >= '1996-01-01'
  GROUP BY r.l_suppkey
)
SELECT t.l_suppkey, s.total_revenue, <SRC_INSTANT> AS computed_upto, s.l_suppkey IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.l_suppkey = t.l_suppkey
