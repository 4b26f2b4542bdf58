-- operation: insert
-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact INSERT_REFUSES_CHANGES@1:1"
-- why: "A row that changes is an error of the run, and a deleted one is inserted."
SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>
