-- source: lineitem
-- inputs: {supplier: {}, nation: {}, partsupp: {}, part: {}}
-- target: s_name* s_at^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 GROUP_IN_PART:SRC@12:43"
-- why: "Quantities of the lines that changed decide of suppliers."
SELECT s_name, s_address, s_at
FROM supplier, nation
WHERE s_suppkey IN (
    SELECT ps_suppkey FROM partsupp
    WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
      AND ps_availqty > (SELECT 0.5 * sum(l_quantity) FROM <SRC> WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey))
  AND s_nationkey = n_nationkey AND n_name = 'CANADA'
ORDER BY s_name
