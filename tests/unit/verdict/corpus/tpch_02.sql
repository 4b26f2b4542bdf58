-- source: partsupp
-- inputs: {part: {}, supplier: {}, part_new: {of: part, drives: {p_partkey: ps_partkey}}, supplier_new: {of: supplier, drives: {s_suppkey: ps_suppkey}}, offers: {of: SRC}, offers_new: {of: SRC, drives: {ps_partkey: ps_partkey}}}
-- target: ps_partkey* ps_suppkey* s_name is_cheapest computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each offer, marked where the part is not wanted; a change of any offer of a part brings all of them."
WITH least AS (SELECT ps_partkey, min(ps_supplycost) AS cost FROM offers GROUP BY ps_partkey)
SELECT o.ps_partkey, o.ps_suppkey, s.s_name, o.ps_supplycost = l.cost AS is_cheapest, <SRC_INSTANT> AS computed_upto,
       o._hoodie_is_deleted OR coalesce(p.p_size, 0) <> 15 AS _hoodie_is_deleted
FROM <SRC> o
LEFT JOIN part p ON p.p_partkey = o.ps_partkey
LEFT JOIN supplier s ON s.s_suppkey = o.ps_suppkey
LEFT JOIN least l ON l.ps_partkey = o.ps_partkey
