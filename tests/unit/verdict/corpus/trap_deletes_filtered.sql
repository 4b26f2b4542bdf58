-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact DELETES_STAY:SRC@8:11"
-- why: "The condition drops the rows that would delete."
-- pairs:
-- - {from: "NOT _hoodie", to: "_hoodie", expect: "exact", why: "Nothing but deletes is published, and a recompute publishes nothing."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
WHERE NOT _hoodie_is_deleted
