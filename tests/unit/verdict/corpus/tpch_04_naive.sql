-- source: orders
-- inputs: {lineitem: {}}
-- target: o_orderpriority* order_count^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_FILTERED@9:7 ROWS_FILTERED@9:44 PARTNER_DECIDES_ROWS:lineitem@10:22 GROUP_IN_PART:SRC@11:10"
-- why: "Counts of the orders that changed."
SELECT o_orderpriority, count(*) AS order_count
FROM <SRC>
WHERE o_orderdate >= date '1993-07-01' AND o_orderdate < date '1993-10-01'
  AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority
