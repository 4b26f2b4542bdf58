-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact NOT_ANALYSED@7:1?"
-- why: "What the parser does not know nobody can judge."
-- pairs:
-- - {from: "SELECT id, a FROM WHERE", to: "SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>", expect: "exact", why: "What it knows."}
SELECT id, a FROM WHERE
