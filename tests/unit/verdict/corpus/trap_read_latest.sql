-- missing: READ_LATEST
-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact STARTS_AT_LATEST@1:1"
-- why: "The rows before the first run are not in the target."
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
