-- source: store_sales
-- inputs: {catalog_sales: {}, web_sales: {}}
-- target: k* n^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:13 ROWS_LIMITED:LIMIT@7:13 SET_OPERATION_OF_PART:INTERSECT@9:19"
-- why: "Who bought in all channels, asked of the sales that changed."
SELECT 1 AS k, count(*) AS n
FROM (
  SELECT DISTINCT ss_customer_sk FROM <SRC>
  INTERSECT
  SELECT DISTINCT cs_bill_customer_sk FROM catalog_sales
  INTERSECT
  SELECT DISTINCT ws_bill_customer_sk FROM web_sales
) hot_cust
LIMIT 100
