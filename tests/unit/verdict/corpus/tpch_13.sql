-- source: customer
-- inputs: {orders: {}, orders_new: {of: orders, drives: {o_custkey: c_custkey}}}
-- target: c_custkey* c_count computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each customer with the number of orders; how often a number comes is asked of this table."
SELECT c.c_custkey, count(o.o_orderkey) AS c_count, <SRC_INSTANT> AS computed_upto, max(c._hoodie_is_deleted) AS _hoodie_is_deleted
FROM <SRC> c
LEFT OUTER JOIN orders o ON c.c_custkey = o.o_custkey AND o.o_comment <> 'special'
GROUP BY c.c_custkey
