-- source: lineitem
-- inputs: {supplier: {}, orders: {}, nation: {}}
-- target: s_name* numwait^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_LIMITED:LIMIT@7:8 INNER_JOIN_DROPS:supplier@8:16 INNER_JOIN_DROPS:orders@8:26 INNER_JOIN_DROPS:nation@8:34 ROWS_FILTERED@9:67 ROWS_FILTERED@9:91 GROUP_IN_PART:SRC@10:22"
-- why: "Other lines of the order are asked among those that changed."
SELECT s_name, count(*) AS numwait
FROM supplier, <SRC> l1, orders, nation
WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate
  AND EXISTS (SELECT * FROM <SRC> l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
  AND NOT EXISTS (SELECT * FROM <SRC> l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey
                  AND l3.l_receiptdate > l3.l_commitdate)
  AND s_nationkey = n_nationkey AND n_name = 'SAUDI ARABIA'
GROUP BY s_name
LIMIT 100
