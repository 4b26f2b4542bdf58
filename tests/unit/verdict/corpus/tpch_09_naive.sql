-- source: lineitem
-- inputs: {part: {}, supplier: {}, partsupp: {}, orders: {}, nation: {}}
-- target: nation* o_year* sum_profit^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:part@10:24 INNER_JOIN_DROPS:partsupp@10:31 INNER_JOIN_DROPS:orders@10:41 INNER_JOIN_DROPS:nation@10:49 ROWS_FILTERED@12:67 GROUP_IN_PART:SRC@14:10"
-- why: "Sums of the lines that changed."
SELECT nation, o_year, sum(amount) AS sum_profit
FROM (
  SELECT n_name AS nation, year(o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
  FROM part, supplier, <SRC>, partsupp, orders, nation
  WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey
    AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%'
) AS profit
GROUP BY nation, o_year
