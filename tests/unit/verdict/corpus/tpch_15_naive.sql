-- source: lineitem
-- inputs: {supplier: {}}
-- target: s_suppkey* total_revenue^
-- model: false
-- expect: "inexact GROUP_IN_PART:SRC@11:10 DELETES_STAY:SRC@13:8"
-- why: "The most among the lines that changed."
CREATE TEMPORARY VIEW revenue (supplier_no, total_revenue) AS
SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount))
FROM <SRC>
WHERE l_shipdate >= date '1996-01-01' AND l_shipdate < date '1996-04-01'
GROUP BY l_suppkey;

SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
FROM supplier, revenue
WHERE s_suppkey = supplier_no AND total_revenue = (SELECT max(total_revenue) FROM revenue)
ORDER BY s_suppkey
