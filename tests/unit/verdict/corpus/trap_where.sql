-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact ROWS_FILTERED@11:7"
-- why: "A row that goes from 5 to -1 is published, and not in the result any more."
-- pairs:
-- - {from: "a > 0", to: "id > 0", expect: "exact", why: "The key of a row never changes, so that it is in the result for ever or never."}
-- - {from: "a > 0", to: "updated_at % 2 = 0", expect: "inexact ROWS_FILTERED@11:7", why: "The ordering field changes with the row."}
-- - {from: "a > 0", to: "id > 0 AND a > 0", expect: "inexact ROWS_FILTERED@11:18", why: "One of two conditions is of a column that changes."}
-- - {from: "a > 0", to: "id > 2 OR a > 0", expect: "inexact ROWS_FILTERED@11:7", why: "Either decides."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
WHERE a > 0
