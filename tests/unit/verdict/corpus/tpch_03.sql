-- source: orders
-- inputs: {lineitem: {}, lineitem_new: {of: lineitem, drives: {l_orderkey: o_orderkey}}, customer: {}, customer_new: {of: customer, drives: {c_custkey: o_custkey}}}
-- target: o_orderkey* o_orderdate revenue computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each order with the sum of all of its lines, marked where it is not wanted."
WITH sums AS (
  SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue
  FROM lineitem
  WHERE l_shipdate > '1995-03-15'
  GROUP BY l_orderkey
)
SELECT o.o_orderkey, o.o_orderdate, s.revenue, <SRC_INSTANT> AS computed_upto,
       o._hoodie_is_deleted OR s.l_orderkey IS NULL OR NOT (c.c_mktsegment <=> 'BUILDING') AS _hoodie_is_deleted
FROM <SRC> o
LEFT JOIN sums s ON s.l_orderkey = o.o_orderkey
LEFT JOIN customer c ON c.c_custkey = o.o_custkey
