-- format: latest_state
-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact DELETES_STAY:SRC@5:8"
-- why: "The increment has no deleted rows, whatever the DDL says."
SELECT id, a, updated_at, false AS _hoodie_is_deleted
FROM <SRC>
