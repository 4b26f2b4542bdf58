-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "With the key in it every row is another one."
-- pairs:
-- - {from: "id, a", to: "a AS id, a", expect: "inexact KEYS_MAY_COLLIDE:id KEY_MAY_CHANGE:id", why: "The record key is a value that changes and that rows share."}
SELECT DISTINCT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
