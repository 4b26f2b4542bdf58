-- source: lineitem
-- inputs: {orders: {}}
-- target: l_shipmode* high_line_count^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:orders@9:14 ROWS_FILTERED@10:35 ROWS_FILTERED@10:70 ROWS_FILTERED@10:103 GROUP_IN_PART:SRC@11:10"
-- why: "Counts of the lines that changed."
SELECT l_shipmode, sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
       sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low_line_count
FROM orders, <SRC>
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
GROUP BY l_shipmode
