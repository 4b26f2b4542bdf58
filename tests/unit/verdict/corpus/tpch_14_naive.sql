-- source: lineitem
-- inputs: {part: {}}
-- target: k* promo_revenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:13 GROUP_IN_PART:SRC@7:13 INNER_JOIN_DROPS:part@9:13 ROWS_FILTERED@10:33 ROWS_FILTERED@10:69"
-- why: "A share among the lines that changed."
SELECT 1 AS k, 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
       / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM <SRC>, part
WHERE l_partkey = p_partkey AND l_shipdate >= date '1995-09-01' AND l_shipdate < date '1995-10-01'
