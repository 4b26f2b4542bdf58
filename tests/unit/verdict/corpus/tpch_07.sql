-- source: lines
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: supp_nation* cust_nation* revenue computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Over rows that a pipeline of lines has joined."
CACHE TABLE changed AS
SELECT l_orderkey, l_linenumber, supp_nation, cust_nation FROM <SRC>;

CACHE TABLE touched AS
SELECT supp_nation, cust_nation FROM changed
UNION
SELECT b.supp_nation, b.cust_nation FROM before b LEFT SEMI JOIN changed c ON c.l_orderkey = b.l_orderkey AND c.l_linenumber = b.l_linenumber;

WITH sums AS (
  SELECT r.supp_nation, r.cust_nation,
         sum(r.volume) AS revenue
  FROM rows r
  LEFT SEMI JOIN touched t ON t.supp_nation = r.supp_nation AND t.cust_nation = r.cust_nation
  WHERE r.l_shipdate BETWEEN '1995-01-01' AND '1996-12-31'
  GROUP BY r.supp_nation, r.cust_nation
)
SELECT t.supp_nation, t.cust_nation, s.revenue, <SRC_INSTANT> AS computed_upto, s.supp_nation IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.supp_nation = t.supp_nation AND s.cust_nation = t.cust_nation
