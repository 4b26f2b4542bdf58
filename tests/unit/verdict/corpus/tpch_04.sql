-- source: orders
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: o_orderpriority* order_count computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Without the lines: an order that is late is a column of its own, which a pipeline of orders writes."
CACHE TABLE changed AS
SELECT o_orderkey, o_orderpriority FROM <SRC>;

CACHE TABLE touched AS
SELECT o_orderpriority FROM changed
UNION
SELECT b.o_orderpriority FROM before b LEFT SEMI JOIN changed c ON c.o_orderkey = b.o_orderkey;

WITH sums AS (
  SELECT r.o_orderpriority,
         count(*) AS order_count
  FROM rows r
  LEFT SEMI JOIN touched t ON t.o_orderpriority = r.o_orderpriority
  WHERE r.o_orderdate >= '1993-07-01' AND r.o_orderdate < '1993-10-01'
  GROUP BY r.o_orderpriority
)
SELECT t.o_orderpriority, s.order_count, <SRC_INSTANT> AS computed_upto, s.o_orderpriority IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.o_orderpriority = t.o_orderpriority
