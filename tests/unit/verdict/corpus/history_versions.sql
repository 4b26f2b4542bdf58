-- source: p* v* price updated_at^
-- inputs: {versions: {of: SRC}}
-- target: p* v* until price at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "All versions of the products that changed, and the versions that are gone."
-- pairs:
-- - {from: "PARTITION BY h.p", to: "PARTITION BY h.price", expect: "inexact INPUT_DOES_NOT_DRIVE:versions@15:8 GROUP_IN_PART:versions@15:23? ORDER_IS_OPEN:lead@15:23?", why: "Versions of other products at the price are not read."}
-- - {from: "LEFT SEMI JOIN c ON c.p = h.p\n", to: "LEFT SEMI JOIN c ON c.p = h.p AND c.v = h.v\n", expect: "inexact INPUT_DOES_NOT_DRIVE:versions@15:8 GROUP_IN_PART:versions@15:23?", why: "Of a product only the versions that changed."}
-- - {from: "WHERE c._hoodie_is_deleted", to: "WHERE NOT c._hoodie_is_deleted", expect: "inexact DELETES_STAY:SRC@22:11", why: "What is gone is not taken out."}
-- - {from: "LEFT ANTI JOIN versions h ON h.p = c.p AND h.v = c.v\n", to: "", expect: "exact", why: "A version that came back in the same run is in the result as it is, and counts before the deleted one."}
-- - {from: "ORDER BY h.v", to: "ORDER BY h.price", expect: "inexact ORDER_IS_OPEN:lead@15:23?", why: "Two versions may have one price.", model: false}
-- - {from: "true AS", to: "false AS", expect: "inexact NOT_ANALYSED@15:8?", why: "The version that is gone is written again."}
-- - {from: "FROM versions h\n", to: "FROM versions h\nLEFT JOIN (SELECT price, count(*) AS n FROM versions GROUP BY price) o ON o.price = h.price\n", expect: "inexact INPUT_DOES_NOT_DRIVE:versions@15:8", why: "What is counted of other products, of which a change brings nothing.", model: false}
WITH c AS (SELECT p, v, price, _hoodie_is_deleted FROM <SRC>)
SELECT h.p, h.v, lead(h.v) OVER (PARTITION BY h.p ORDER BY h.v) AS until, h.price, <SRC_INSTANT> AS at, false AS _hoodie_is_deleted
FROM versions h
LEFT SEMI JOIN c ON c.p = h.p
UNION ALL
SELECT c.p, c.v, NULL AS until, c.price, <SRC_INSTANT> AS at, true AS _hoodie_is_deleted
FROM c
LEFT ANTI JOIN versions h ON h.p = c.p AND h.v = c.v
WHERE c._hoodie_is_deleted
