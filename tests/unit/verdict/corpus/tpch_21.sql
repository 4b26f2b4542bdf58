-- source: lineitem
-- inputs: {supplier: {}, supplier_new: {of: supplier, drives: {s_suppkey: l_suppkey}}, orders: {}, orders_new: {of: orders, drives: {o_orderkey: l_orderkey}}, others: {of: SRC}, others_new: {of: SRC, drives: {l_orderkey: l_orderkey}}}
-- target: l_orderkey* l_linenumber* s_name is_waited_for computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each line with whether another one of its order is late; a change of any line of an order brings all of them."
WITH late AS (SELECT l_orderkey, count(*) AS n, count(DISTINCT l_suppkey) AS suppliers FROM others WHERE l_receiptdate > l_commitdate GROUP BY l_orderkey)
SELECT l.l_orderkey, l.l_linenumber, s.s_name, coalesce(t.suppliers, 0) = 1 AS is_waited_for, <SRC_INSTANT> AS computed_upto,
       l._hoodie_is_deleted OR NOT (o.o_orderstatus <=> 'F') AS _hoodie_is_deleted
FROM <SRC> l
LEFT JOIN supplier s ON s.s_suppkey = l.l_suppkey
LEFT JOIN orders o ON o.o_orderkey = l.l_orderkey
LEFT JOIN late t ON t.l_orderkey = l.l_orderkey
