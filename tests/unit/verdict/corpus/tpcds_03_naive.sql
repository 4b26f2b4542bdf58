-- source: store_sales
-- inputs: {item: {}, date_dim: {}}
-- target: d_year* i_brand* sum_agg^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 ROWS_LIMITED:LIMIT@7:8 INNER_JOIN_DROPS:date_dim@8:19 INNER_JOIN_DROPS:item@8:26 ROWS_FILTERED@9:69 GROUP_IN_PART:SRC@10:10"
-- why: "Sums of the sales that changed."
SELECT d_year, i_brand, sum(ss_sales_price) AS sum_agg
FROM date_dim dt, <SRC>, item
WHERE dt.d_date_sk = ss_sold_date_sk AND ss_item_sk = i_item_sk AND d_moy = 11
GROUP BY dt.d_year, i_brand
LIMIT 100
