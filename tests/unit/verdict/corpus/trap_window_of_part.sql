-- target: id* n updated_at^ _hoodie_is_deleted
-- expect: "inexact WINDOW_IN_PART:SRC@8:16"
-- why: "The rows around it did not change and are not there."
-- pairs:
-- - {from: "PARTITION BY a", to: "PARTITION BY id", expect: "exact", why: "A window of one row."}
-- - {from: "PARTITION BY a", to: "PARTITION BY id, a", expect: "exact", why: "Still of one row."}
-- - {from: "PARTITION BY a ORDER BY updated_at", to: "ORDER BY updated_at", expect: "inexact WINDOW_IN_PART:SRC@8:16", why: "A window over all rows."}
SELECT id, lag(b) OVER (PARTITION BY a ORDER BY updated_at) AS n, updated_at, _hoodie_is_deleted
FROM <SRC>
