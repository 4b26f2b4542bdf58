-- source: lines
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: l_shipmode* high_line_count computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Over rows that a pipeline of lines has joined."
CACHE TABLE changed AS
SELECT l_orderkey, l_linenumber, l_shipmode FROM <SRC>;

CACHE TABLE touched AS
SELECT l_shipmode FROM changed
UNION
SELECT b.l_shipmode FROM before b LEFT SEMI JOIN changed c ON c.l_orderkey = b.l_orderkey AND c.l_linenumber = b.l_linenumber;

WITH sums AS (
  SELECT r.l_shipmode,
         sum(CASE WHEN r.o_orderpriority = '1-URGENT' THEN 1 ELSE 0 END) AS high_line_count
  FROM rows r
  LEFT SEMI JOIN touched t ON t.l_shipmode = r.l_shipmode
  WHERE r.l_commitdate < r.l_receiptdate
  GROUP BY r.l_shipmode
)
SELECT t.l_shipmode, s.high_line_count, <SRC_INSTANT> AS computed_upto, s.l_shipmode IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.l_shipmode = t.l_shipmode
