-- source: customer
-- inputs: {orders: {}}
-- target: cntrycode* numcust^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_FILTERED@11:19 GROUP_IN_PART:SRC@12:33"
-- why: "An average and counts of the customers that changed."
SELECT cntrycode, count(*) AS numcust, sum(c_acctbal) AS totacctbal
FROM (
  SELECT substring(c_phone, 1, 2) AS cntrycode, c_acctbal
  FROM <SRC> c
  WHERE substring(c_phone, 1, 2) IN ('13', '31', '23')
    AND c_acctbal > (SELECT avg(c_acctbal) FROM <SRC> WHERE c_acctbal > 0.00)
    AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c.c_custkey)
) AS custsale
GROUP BY cntrycode
