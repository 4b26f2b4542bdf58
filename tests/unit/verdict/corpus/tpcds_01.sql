-- source: store_returns
-- inputs: {returns: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: sr_customer_sk* sr_store_sk* total at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "What each customer returned to each store; who is above the average is asked of this table."
WITH touched AS (
  SELECT sr_customer_sk, sr_store_sk FROM <SRC>
  UNION
  SELECT b.sr_customer_sk, b.sr_store_sk FROM before b
  LEFT SEMI JOIN <SRC> s ON s.sr_item_sk = b.sr_item_sk AND s.sr_ticket_number = b.sr_ticket_number
), ctr AS (
  SELECT sr_customer_sk, sr_store_sk, sum(sr_return_amt) AS total FROM returns GROUP BY sr_customer_sk, sr_store_sk
)
SELECT t.sr_customer_sk, t.sr_store_sk, c.total, <SRC_INSTANT> AS at, c.sr_store_sk IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN ctr c ON c.sr_customer_sk = t.sr_customer_sk AND c.sr_store_sk = t.sr_store_sk
