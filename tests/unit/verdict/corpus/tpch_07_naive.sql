-- source: lineitem
-- inputs: {supplier: {}, orders: {}, customer: {}, nation: {}}
-- target: supp_nation* cust_nation* l_year* revenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:supplier@10:18 INNER_JOIN_DROPS:orders@10:25 INNER_JOIN_DROPS:customer@10:33 INNER_JOIN_DROPS:nation@10:43 INNER_JOIN_DROPS:nation@10:54 ROWS_FILTERED@13:11 ROWS_FILTERED@14:9 GROUP_IN_PART:SRC@16:10"
-- why: "Sums of the lines that changed."
SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue
FROM (
  SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, year(l_shipdate) AS l_year, l_extendedprice * (1 - l_discount) AS volume
  FROM supplier, <SRC>, orders, customer, nation n1, nation n2
  WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
    AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
    AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))
    AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31'
) AS shipping
GROUP BY supp_nation, cust_nation, l_year
