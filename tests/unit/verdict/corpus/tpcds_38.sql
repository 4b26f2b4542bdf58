-- source: customers
-- inputs: {store_sales: {}, ss_new: {of: store_sales, drives: {ss_customer_sk: c_customer_sk}}, web_sales: {}, ws_new: {of: web_sales, drives: {ws_bill_customer_sk: c_customer_sk}}}
-- target: c_customer_sk* in_store in_web at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each customer with the channels; who is in all of them is asked of this table."
-- pairs:
-- - {from: "DISTINCT ws_bill", to: "ws_bill", expect: "inexact FAN_OUT:web_sales@11:19?", why: "Several rows for a customer with several sales."}
SELECT c.c_customer_sk, s.k IS NOT NULL AS in_store, w.k IS NOT NULL AS in_web, <SRC_INSTANT> AS at, c._hoodie_is_deleted
FROM <SRC> c
LEFT JOIN (SELECT DISTINCT ss_customer_sk AS k FROM store_sales) s ON s.k = c.c_customer_sk
LEFT JOIN (SELECT DISTINCT ws_bill_customer_sk AS k FROM web_sales) w ON w.k = c.c_customer_sk
