-- source: customer
-- inputs: {orders: {}, orders_new: {of: orders, drives: {o_custkey: c_custkey}}, nation: {}, nation_new: {of: nation, drives: {n_nationkey: c_nationkey}}}
-- target: c_custkey* c_name n_name spent computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each customer with the sum of the orders. The lines hang on orders, and name no customer: an order has its price."
WITH sums AS (SELECT o_custkey, sum(o_totalprice) AS spent FROM orders WHERE o_orderstatus = 'R' GROUP BY o_custkey)
SELECT c.c_custkey, c.c_name, n.n_name, s.spent, <SRC_INSTANT> AS computed_upto,
       c._hoodie_is_deleted OR s.o_custkey IS NULL AS _hoodie_is_deleted
FROM <SRC> c
LEFT JOIN sums s ON s.o_custkey = c.c_custkey
LEFT JOIN nation n ON n.n_nationkey = c.c_nationkey
