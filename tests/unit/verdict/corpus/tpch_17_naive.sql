-- source: lineitem
-- inputs: {part: {}}
-- target: k* avg_yearly^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:13 INNER_JOIN_DROPS:part@8:15 ROWS_FILTERED@9:35 ROWS_FILTERED@9:60 GROUP_IN_PART:SRC@10:38"
-- why: "Averages of the lines that changed."
SELECT 1 AS k, sum(l_extendedprice) / 7.0 AS avg_yearly
FROM <SRC> l, part
WHERE p_partkey = l.l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
  AND l_quantity < (SELECT 0.2 * avg(i.l_quantity) FROM <SRC> i WHERE i.l_partkey = p_partkey)
