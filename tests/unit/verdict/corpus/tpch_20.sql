-- source: partsupp
-- inputs: {lineitem: {}, lineitem_new: {of: lineitem, drives: {l_partkey: ps_partkey, l_suppkey: ps_suppkey}}, part: {}, part_new: {of: part, drives: {p_partkey: ps_partkey}}}
-- target: ps_partkey* ps_suppkey* sold has_too_many computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each offer with what was sold of it."
WITH sold AS (SELECT l_partkey, l_suppkey, sum(l_quantity) AS quantity FROM lineitem GROUP BY l_partkey, l_suppkey)
SELECT o.ps_partkey, o.ps_suppkey, s.quantity AS sold, o.ps_availqty > s.quantity AS has_too_many, <SRC_INSTANT> AS computed_upto,
       o._hoodie_is_deleted OR p.p_name IS NULL OR p.p_name <> 'forest' AS _hoodie_is_deleted
FROM <SRC> o
LEFT JOIN sold s ON s.l_partkey = o.ps_partkey AND s.l_suppkey = o.ps_suppkey
LEFT JOIN part p ON p.p_partkey = o.ps_partkey
