-- source: lineitem
-- inputs: {part: {}, supplier: {}, orders: {}, customer: {}, nation: {}, region: {}}
-- target: o_year* mkt_share^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:part@10:24 INNER_JOIN_DROPS:orders@10:31 INNER_JOIN_DROPS:customer@10:39 INNER_JOIN_DROPS:nation@10:49 INNER_JOIN_DROPS:nation@10:60 INNER_JOIN_DROPS:region@10:71 ROWS_FILTERED@12:75 ROWS_FILTERED@13:42 GROUP_IN_PART:SRC@15:10"
-- why: "Shares among the lines that changed."
SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS mkt_share
FROM (
  SELECT year(o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
  FROM part, supplier, <SRC>, orders, customer, nation n1, nation n2, region
  WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey
    AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
    AND s_nationkey = n2.n_nationkey AND p_type = 'ECONOMY ANODIZED STEEL'
) AS all_nations
GROUP BY o_year
