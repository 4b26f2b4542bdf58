-- source: lineitem
-- inputs: {}
-- target: k* revenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:13 GROUP_IN_PART:SRC@7:13 ROWS_FILTERED@9:7 ROWS_FILTERED@9:43 ROWS_FILTERED@9:78 ROWS_FILTERED@9:115"
-- why: "One sum of the lines that changed."
SELECT 1 AS k, sum(l_extendedprice * l_discount) AS revenue
FROM <SRC>
WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
