-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact ROWS_FILTERED@6:41"
-- why: "A filter is one wherever it stands."
-- pairs:
-- - {from: "b = 1", to: "id <> 1", expect: "exact", why: "A filter on the key."}
WITH some AS (SELECT * FROM <SRC> WHERE b = 1),
again AS (SELECT id, a, updated_at, _hoodie_is_deleted FROM some)
SELECT * FROM again
