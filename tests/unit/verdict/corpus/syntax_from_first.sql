-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "FROM may stand first."
-- pairs:
-- - {from: "FROM <SRC> SELECT id, a, updated_at, _hoodie_is_deleted", to: "TABLE <SRC>", expect: "exact", why: "A whole table."}
-- - {from: "updated_at, _hoodie_is_deleted", to: "updated_at, _hoodie_is_deleted WHERE a = 1", expect: "inexact ROWS_FILTERED@8:63", why: "A filter."}
FROM <SRC> SELECT id, a, updated_at, _hoodie_is_deleted
