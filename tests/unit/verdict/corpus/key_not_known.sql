-- facts: false
-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "The source's key is taken to be what the target's is made of, and a run holds it against the table."
-- pairs:
-- - {from: "SELECT id,", to: "SELECT upper(id) AS id,", expect: "inexact KEY_MAY_CHANGE:id@8:14", why: "Nobody knows what the source's key is."}
SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>
