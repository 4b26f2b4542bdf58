-- source: lineitem
-- inputs: {part: {}}
-- target: k* revenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:13 GROUP_IN_PART:SRC@7:13 FAN_OUT:part@8:13? INNER_JOIN_DROPS:part@8:13 ROWS_FILTERED@9:8"
-- why: "One sum of the lines that changed."
SELECT 1 AS k, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM <SRC>, part
WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5)
   OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10)
