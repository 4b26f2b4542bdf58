-- source: partsupp
-- inputs: {supplier: {}, nation: {}}
-- target: ps_partkey* value^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:supplier@8:13 INNER_JOIN_DROPS:nation@8:23 ROWS_FILTERED@9:64 GROUP_IN_PART:SRC@12:14"
-- why: "Sums of the offers that changed, held against their own sum."
SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value
FROM <SRC>, supplier, nation
WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'
GROUP BY ps_partkey
HAVING sum(ps_supplycost * ps_availqty) > (
  SELECT sum(ps_supplycost * ps_availqty) * 0.0001 FROM <SRC>, supplier, nation
  WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY')
ORDER BY value DESC
