-- source: lineitem
-- inputs: {}
-- target: l_returnflag* l_linestatus* sum_qty^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_FILTERED@10:7 GROUP_IN_PART:SRC@11:10"
-- why: "Sums of the lines that changed."
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS sum_qty, sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       avg(l_discount) AS avg_disc, count(*) AS count_order
FROM <SRC>
WHERE l_shipdate <= date '1998-12-01' - INTERVAL 90 DAYS
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus
