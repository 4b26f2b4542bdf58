-- source: lineitem
-- inputs: {customer: {}, orders: {}, nation: {}}
-- target: c_custkey* revenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_LIMITED:LIMIT@7:8 INNER_JOIN_DROPS:customer@8:24 INNER_JOIN_DROPS:nation@8:31 ROWS_FILTERED@9:61 ROWS_FILTERED@9:98 ROWS_FILTERED@10:7 GROUP_IN_PART:SRC@11:10"
-- why: "Of a customer only the lines that changed are summed."
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name, c_address, c_phone, c_comment
FROM customer, orders, <SRC>, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= date '1993-10-01' AND o_orderdate < date '1994-01-01'
  AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC
LIMIT 20
