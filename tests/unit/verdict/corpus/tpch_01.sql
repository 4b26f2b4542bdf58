-- source: lineitem
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: l_returnflag* l_linestatus* sum_qty sum_disc_price count_order computed_upto^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Groups of both images, each from all of its lines."
CACHE TABLE changed AS
SELECT l_orderkey, l_linenumber, l_returnflag, l_linestatus FROM <SRC>;

CACHE TABLE touched AS
SELECT l_returnflag, l_linestatus FROM changed
UNION
SELECT b.l_returnflag, b.l_linestatus FROM before b LEFT SEMI JOIN changed c ON c.l_orderkey = b.l_orderkey AND c.l_linenumber = b.l_linenumber;

WITH sums AS (
  SELECT r.l_returnflag, r.l_linestatus,
         sum(r.l_quantity) AS sum_qty,
         sum(r.l_extendedprice * (1 - r.l_discount)) AS sum_disc_price,
         count(*) AS count_order
  FROM rows r
  LEFT SEMI JOIN touched t ON t.l_returnflag = r.l_returnflag AND t.l_linestatus = r.l_linestatus
  WHERE r.l_shipdate <= '1998-09-02'
  GROUP BY r.l_returnflag, r.l_linestatus
)
SELECT t.l_returnflag, t.l_linestatus, s.sum_qty, s.sum_disc_price, s.count_order, <SRC_INSTANT> AS computed_upto, s.l_returnflag IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.l_returnflag = t.l_returnflag AND s.l_linestatus = t.l_linestatus
