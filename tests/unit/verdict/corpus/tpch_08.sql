-- source: lines
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: o_orderdate* mkt_share computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "A share of sums, each of the whole group."
CACHE TABLE changed AS
SELECT l_orderkey, l_linenumber, o_orderdate FROM <SRC>;

CACHE TABLE touched AS
SELECT o_orderdate FROM changed
UNION
SELECT b.o_orderdate FROM before b LEFT SEMI JOIN changed c ON c.l_orderkey = b.l_orderkey AND c.l_linenumber = b.l_linenumber;

WITH sums AS (
  SELECT r.o_orderdate,
         sum(CASE WHEN r.supp_nation = 'BRAZIL' THEN r.volume ELSE 0 END) / sum(r.volume) AS mkt_share
  FROM rows r
  LEFT SEMI JOIN touched t ON t.o_orderdate = r.o_orderdate
  WHERE r.region = 'AMERICA'
  GROUP BY r.o_orderdate
)
SELECT t.o_orderdate, s.mkt_share, <SRC_INSTANT> AS computed_upto, s.o_orderdate IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.o_orderdate = t.o_orderdate
