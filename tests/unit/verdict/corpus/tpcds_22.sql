-- source: inventory
-- inputs: {stock: {of: SRC}}
-- target: inv_item_sk* quantity at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The group is a part of the record key, so that no row leaves it."
WITH touched AS (SELECT DISTINCT inv_item_sk FROM <SRC>),
q AS (SELECT inv_item_sk, avg(inv_quantity_on_hand) AS quantity FROM stock GROUP BY inv_item_sk)
SELECT t.inv_item_sk, q.quantity, <SRC_INSTANT> AS at, q.inv_item_sk IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN q ON q.inv_item_sk = t.inv_item_sk
