-- source: lineitem
-- inputs: {customer: {}, orders: {}}
-- target: l_orderkey* revenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_LIMITED:LIMIT@7:8 INNER_JOIN_DROPS:customer@8:24 ROWS_FILTERED@9:7 ROWS_FILTERED@10:7 ROWS_FILTERED@10:43 GROUP_IN_PART:SRC@11:10"
-- why: "Of an order only the lines that changed are summed, and ten are kept for each run."
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, <SRC>
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < date '1995-03-15' AND l_shipdate > date '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 10
