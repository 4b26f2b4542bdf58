-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The order of rows is nothing that a table keeps."
-- pairs:
-- - {from: "ORDER BY a", to: "ORDER BY rand()", expect: "exact", model: false, why: "Nor is one of chance."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
ORDER BY a
