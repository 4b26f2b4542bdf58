-- source: customer
-- inputs: {orders: {}, orders_new: {of: orders, drives: {o_custkey: c_custkey}}}
-- target: c_custkey* cntrycode c_acctbal computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each customer without orders, marked where there are some; the average over all is asked where it is read."
SELECT c.c_custkey, substring(c.c_phone, 1, 2) AS cntrycode, c.c_acctbal, <SRC_INSTANT> AS computed_upto,
       c._hoodie_is_deleted OR o.o_custkey IS NOT NULL AS _hoodie_is_deleted
FROM <SRC> c
LEFT JOIN (SELECT DISTINCT o_custkey FROM orders) o ON o.o_custkey = c.c_custkey
