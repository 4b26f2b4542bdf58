-- source: stock
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: ps_partkey* value computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The part of the record key that names the group never changes; the sum of all is another pipeline."
CACHE TABLE changed AS
SELECT ps_partkey, ps_suppkey FROM <SRC>;

CACHE TABLE touched AS
SELECT ps_partkey FROM changed
UNION
SELECT b.ps_partkey FROM before b LEFT SEMI JOIN changed c ON c.ps_partkey = b.ps_partkey AND c.ps_suppkey = b.ps_suppkey;

WITH sums AS (
  SELECT r.ps_partkey,
         sum(r.value) AS value
  FROM rows r
  LEFT SEMI JOIN touched t ON t.ps_partkey = r.ps_partkey
  WHERE r.nation = 'GERMANY'
  GROUP BY r.ps_partkey
)
SELECT t.ps_partkey, s.value, <SRC_INSTANT> AS computed_upto, s.ps_partkey IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.ps_partkey = t.ps_partkey
