-- source: lineitem
-- inputs: {customer: {}, orders: {}, supplier: {}, nation: {}, region: {}}
-- target: n_name* revenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:customer@8:24 INNER_JOIN_DROPS:supplier@8:31 INNER_JOIN_DROPS:nation@8:41 INNER_JOIN_DROPS:region@8:49 ROWS_FILTERED@10:67 ROWS_FILTERED@11:7 ROWS_FILTERED@11:44 GROUP_IN_PART:SRC@12:10"
-- why: "Sums of the lines that changed."
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, <SRC>, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey
  AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA'
  AND o_orderdate >= date '1994-01-01' AND o_orderdate < date '1995-01-01'
GROUP BY n_name
ORDER BY revenue DESC
