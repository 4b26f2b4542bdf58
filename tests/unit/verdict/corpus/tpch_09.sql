-- source: lines
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: supp_nation* o_orderdate* sum_profit computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Over rows that a pipeline of lines has joined."
CACHE TABLE changed AS
SELECT l_orderkey, l_linenumber, supp_nation, o_orderdate FROM <SRC>;

CACHE TABLE touched AS
SELECT supp_nation, o_orderdate FROM changed
UNION
SELECT b.supp_nation, b.o_orderdate FROM before b LEFT SEMI JOIN changed c ON c.l_orderkey = b.l_orderkey AND c.l_linenumber = b.l_linenumber;

WITH sums AS (
  SELECT r.supp_nation, r.o_orderdate,
         sum(r.volume - r.cost * r.quantity) AS sum_profit
  FROM rows r
  LEFT SEMI JOIN touched t ON t.supp_nation = r.supp_nation AND t.o_orderdate = r.o_orderdate
  WHERE r.p_name = 'green'
  GROUP BY r.supp_nation, r.o_orderdate
)
SELECT t.supp_nation, t.o_orderdate, s.sum_profit, <SRC_INSTANT> AS computed_upto, s.supp_nation IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.supp_nation = t.supp_nation AND s.o_orderdate = t.o_orderdate
