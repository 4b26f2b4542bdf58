-- source: lines
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: supp_nation* revenue computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Over rows that a pipeline of lines has joined, the group is a column of the source."
CACHE TABLE changed AS
SELECT l_orderkey, l_linenumber, supp_nation FROM <SRC>;

CACHE TABLE touched AS
SELECT supp_nation FROM changed
UNION
SELECT b.supp_nation FROM before b LEFT SEMI JOIN changed c ON c.l_orderkey = b.l_orderkey AND c.l_linenumber = b.l_linenumber;

WITH sums AS (
  SELECT r.supp_nation,
         sum(r.volume) AS revenue
  FROM rows r
  LEFT SEMI JOIN touched t ON t.supp_nation = r.supp_nation
  WHERE r.cust_nation = r.supp_nation AND r.region = 'ASIA'
  GROUP BY r.supp_nation
)
SELECT t.supp_nation, s.revenue, <SRC_INSTANT> AS computed_upto, s.supp_nation IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.supp_nation = t.supp_nation
