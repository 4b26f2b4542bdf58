-- target: a* b updated_at^ _hoodie_is_deleted
-- expect: "inexact KEYS_MAY_COLLIDE:id KEY_MAY_CHANGE:a"
-- why: "A row whose a changes stands under both."
SELECT a, b, updated_at, _hoodie_is_deleted
FROM <SRC>
