-- source: web_sales
-- inputs: {item: {}, date_dim: {}}
-- target: i_item_id* itemrevenue^
-- model: false
-- expect: "inexact DELETES_STAY:SRC@7:8 WINDOW_IN_PART:SRC@8:48 INNER_JOIN_DROPS:item@9:13 INNER_JOIN_DROPS:date_dim@9:19 ROWS_FILTERED@10:34"
-- why: "A share among the sales that changed."
SELECT i_item_id, i_category, i_class, i_current_price, sum(ws_ext_sales_price) AS itemrevenue,
       sum(ws_ext_sales_price) * 100 / sum(sum(ws_ext_sales_price)) OVER (PARTITION BY i_class) AS revenueratio
FROM <SRC>, item, date_dim
WHERE ws_item_sk = i_item_sk AND i_category IN ('Sports', 'Books') AND ws_sold_date_sk = d_date_sk
GROUP BY i_item_id, i_category, i_class, i_current_price
