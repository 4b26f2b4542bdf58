-- source: store_sales
-- inputs: {item: {}, item_new: {of: item, drives: {i_item_sk: ss_item_sk}}, date_dim: {}, date_new: {of: date_dim, drives: {d_date_sk: ss_sold_date_sk}}}
-- target: ss_item_sk* ss_ticket_number* d_year i_brand ss_sales_price ss_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The rows from which the query's sums are made, marked where they are not November's."
-- pairs:
-- - {set: {inputs: {date_new: null}}, expect: "inexact INPUT_DOES_NOT_DRIVE:date_dim@14:11", why: "A date that changes reaches no sale."}
-- - {from: "LEFT JOIN item", to: "JOIN item", expect: "inexact INNER_JOIN_DROPS:item@13:6", why: "A sale without an item is not in the result."}
-- - {from: "OR NOT (d.d_moy <=> 11)", to: "OR d.d_moy <> 11", expect: "exact", why: "With null it is not marked, in the recompute neither."}
SELECT s.ss_item_sk, s.ss_ticket_number, d.d_year, i.i_brand, s.ss_sales_price, s.ss_at,
       s._hoodie_is_deleted OR NOT (d.d_moy <=> 11) AS _hoodie_is_deleted
FROM <SRC> s
LEFT JOIN item i ON i.i_item_sk = s.ss_item_sk
LEFT JOIN date_dim d ON d.d_date_sk = s.ss_sold_date_sk
