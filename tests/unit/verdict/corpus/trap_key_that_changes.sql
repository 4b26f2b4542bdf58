-- target: a* b updated_at^ _hoodie_is_deleted
-- expect: "inexact KEYS_MAY_COLLIDE:id@4:8 KEY_MAY_CHANGE:a@4:8"
-- why: "A row whose a changes stands under both."
SELECT a, b, updated_at, _hoodie_is_deleted
FROM <SRC>
