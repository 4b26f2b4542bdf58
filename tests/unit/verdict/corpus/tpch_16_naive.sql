-- source: partsupp
-- inputs: {part: {}, supplier: {}}
-- target: p_brand* p_type* p_size* supplier_cnt^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 INNER_JOIN_DROPS:part@8:13 ROWS_FILTERED@9:34 ROWS_FILTERED@9:60 ROWS_FILTERED@9:99 PARTNER_DECIDES_ROWS:supplier@10:7 GROUP_IN_PART:SRC@11:10"
-- why: "Counts of the offers that changed."
SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS supplier_cnt
FROM <SRC>, part
WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, 23)
  AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size
