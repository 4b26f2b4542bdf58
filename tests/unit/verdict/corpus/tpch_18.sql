-- source: orders
-- inputs: {lineitem: {}, lineitem_new: {of: lineitem, drives: {l_orderkey: o_orderkey}}, customer: {}, customer_new: {of: customer, drives: {c_custkey: o_custkey}}}
-- target: o_orderkey* c_name quantity computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each order with the sum of all of its lines, marked where it is small."
SELECT o.o_orderkey, c.c_name, s.quantity, <SRC_INSTANT> AS computed_upto,
       o._hoodie_is_deleted OR NOT (coalesce(s.quantity, 0) > 3) AS _hoodie_is_deleted
FROM <SRC> o
LEFT JOIN (SELECT l_orderkey, sum(l_quantity) AS quantity FROM lineitem GROUP BY l_orderkey) s ON s.l_orderkey = o.o_orderkey
LEFT JOIN customer c ON c.c_custkey = o.o_custkey
