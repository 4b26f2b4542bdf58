-- target: id* a* b updated_at^ _hoodie_is_deleted
-- expect: "inexact KEY_MAY_CHANGE:a@6:8"
-- why: "The row under the old a stays."
-- pairs:
-- - {set: {target: id* a b updated_at^ _hoodie_is_deleted}, expect: "exact", why: "The key is the source's."}
SELECT id, a, b, updated_at, _hoodie_is_deleted
FROM <SRC>
