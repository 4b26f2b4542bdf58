-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact ROWS_LIMITED:LIMIT@6:8"
-- why: "Ten rows of each run are more than ten."
-- pairs:
-- - {from: "LIMIT 2", to: "OFFSET 2", model: false, expect: "inexact ROWS_LIMITED:OFFSET@6:8", why: "The same from the other end."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
ORDER BY id
LIMIT 2
