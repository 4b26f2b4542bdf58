-- source: stock
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: p_brand* p_type* p_size* supplier_cnt computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "A count of distinct suppliers of the whole group."
CACHE TABLE changed AS
SELECT ps_partkey, ps_suppkey, p_brand, p_type, p_size FROM <SRC>;

CACHE TABLE touched AS
SELECT p_brand, p_type, p_size FROM changed
UNION
SELECT b.p_brand, b.p_type, b.p_size FROM before b LEFT SEMI JOIN changed c ON c.ps_partkey = b.ps_partkey AND c.ps_suppkey = b.ps_suppkey;

WITH sums AS (
  SELECT r.p_brand, r.p_type, r.p_size,
         count(DISTINCT r.ps_suppkey) AS supplier_cnt
  FROM rows r
  LEFT SEMI JOIN touched t ON t.p_brand = r.p_brand AND t.p_type = r.p_type AND t.p_size = r.p_size
  WHERE r.p_brand <> 'Brand#45' AND r.complains = 0
  GROUP BY r.p_brand, r.p_type, r.p_size
)
SELECT t.p_brand, t.p_type, t.p_size, s.supplier_cnt, <SRC_INSTANT> AS computed_upto, s.p_brand IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.p_brand = t.p_brand AND s.p_type = t.p_type AND s.p_size = t.p_size
