-- source: store_sales
-- target: channel* ss_item_sk* ss_ticket_number* price ss_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Two rows of one sale, told apart by a constant in the key."
-- pairs:
-- - {from: "'net' AS channel", to: "'gross' AS channel", expect: "inexact KEYS_MAY_COLLIDE:union@9:19?", why: "Both have one key."}
-- - {from: "UNION ALL", to: "UNION", expect: "exact", why: "Rows that differ in a constant are never the same."}
-- - {set: {target: channel ss_item_sk* ss_ticket_number* price ss_at^ _hoodie_is_deleted}, expect: "inexact KEYS_MAY_COLLIDE:channel@9:19", why: "The constant is not in the key."}
SELECT 'gross' AS channel, ss_item_sk, ss_ticket_number, ss_sales_price AS price, ss_at, _hoodie_is_deleted FROM <SRC>
UNION ALL
SELECT 'net' AS channel, ss_item_sk, ss_ticket_number, ss_net_profit AS price, ss_at, _hoodie_is_deleted FROM <SRC>
