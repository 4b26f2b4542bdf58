-- source: item
-- inputs: {items: {of: SRC}, items_new: {of: SRC, drives: {i_class: i_class}}, web_sales: {}, web_new: {of: web_sales, drives: {ws_item_sk: i_item_sk}}}
-- target: i_item_sk* itemrevenue revenue_rank at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:web_sales@15:11"
-- why: "A sale brings its item, and not the others of the item's class, whose ranks change, too."
WITH revenue AS (
  SELECT i.i_item_sk, i.i_class, coalesce(w.r, 0) AS r
  FROM items i
  LEFT JOIN (SELECT ws_item_sk, sum(ws_ext_sales_price) AS r FROM web_sales GROUP BY ws_item_sk) w ON w.ws_item_sk = i.i_item_sk
), ranked AS (
  SELECT i_item_sk, i_class, r, rank() OVER (PARTITION BY i_class ORDER BY r DESC) AS n FROM revenue
)
SELECT s.i_item_sk, k.r AS itemrevenue, k.n AS revenue_rank, <SRC_INSTANT> AS at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN ranked k ON k.i_item_sk = s.i_item_sk AND k.i_class = s.i_class
