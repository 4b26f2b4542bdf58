-- source: p* v* price updated_at^
-- inputs: {versions: {of: SRC}}
-- target: p* v* price at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "All rows of a run are as new, and newer than those of before."
-- pairs:
-- - {from: "<SRC_INSTANT> AS at, true", to: "1 AS at, true", expect: "inexact ORDERING_MAY_GO_BACK:at@10:8?", why: "What is gone is older than what was published, and is not taken out."}
-- - {from: "<SRC_INSTANT> AS at, false", to: "2 AS at, false", expect: "inexact ORDERING_MAY_GO_BACK:at@10:8?", why: "A row that comes back is older than it was when it was taken out."}
WITH c AS (SELECT p, v, price, _hoodie_is_deleted FROM <SRC>)
SELECT h.p, h.v, h.price, <SRC_INSTANT> AS at, false AS _hoodie_is_deleted
FROM versions h
LEFT SEMI JOIN c ON c.p = h.p
UNION ALL
SELECT c.p, c.v, c.price, <SRC_INSTANT> AS at, true AS _hoodie_is_deleted
FROM c
WHERE c._hoodie_is_deleted
