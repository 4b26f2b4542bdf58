-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The order of rows is nothing that a table keeps."
-- pairs:
-- - {from: "ORDER BY a", to: "ORDER BY rand()", expect: "inexact NOT_DETERMINISTIC:rand", model: false, why: "Said where it stands; a value of chance is said once for each place."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
ORDER BY a
