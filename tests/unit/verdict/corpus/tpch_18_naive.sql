-- source: lineitem
-- inputs: {customer: {}, orders: {}}
-- target: o_orderkey* quantity^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_LIMITED:LIMIT@7:8 INNER_JOIN_DROPS:customer@8:24 GROUP_IN_PART:SRC@9:7"
-- why: "Of an order only the lines that changed are counted."
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
FROM customer, orders, <SRC>
WHERE o_orderkey IN (SELECT l_orderkey FROM <SRC> GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
  AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
ORDER BY o_totalprice DESC, o_orderdate
LIMIT 100
