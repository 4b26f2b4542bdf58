-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Of one key there is one row, so that the window has one row whatever it orders by."
-- pairs:
-- - {from: "PARTITION BY id", to: "PARTITION BY a", expect: "inexact WINDOW_IN_PART:SRC@9:41", why: "The other rows of the same a are not there."}
-- - {from: "row_number() OVER (PARTITION BY id ORDER BY updated_at DESC) = 1", to: "a = 1", expect: "inexact ROWS_FILTERED@9:9", why: "A filter by another word."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
QUALIFY row_number() OVER (PARTITION BY id ORDER BY updated_at DESC) = 1
