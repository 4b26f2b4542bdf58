-- source: store_sales
-- inputs: {store_returns: {}, sr_new: {of: store_returns, drives: {sr_ticket_number: ss_ticket_number, sr_item_sk: ss_item_sk}}}
-- target: ss_item_sk* ss_ticket_number* net ss_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each sale less what came back of it; a return brings its sale."
-- pairs:
-- - {from: "r.sr_item_sk = s.ss_item_sk AND ", to: "", expect: "inexact FAN_OUT:store_returns@11:11? INPUT_DOES_NOT_DRIVE:store_returns@11:11", why: "Returns of the ticket's other items."}
-- - {from: "LEFT JOIN", to: "LEFT ANTI JOIN", expect: "inexact PARTNER_DECIDES_ROWS:store_returns@11:16", why: "Sales that did not come back; one that comes back stays.", model: false}
SELECT s.ss_item_sk, s.ss_ticket_number, s.ss_sales_price - coalesce(r.sr_return_amt, 0) AS net, s.ss_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN store_returns r ON r.sr_item_sk = s.ss_item_sk AND r.sr_ticket_number = s.ss_ticket_number
