-- source: id* part* a updated_at^
-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact KEYS_MAY_COLLIDE:part@7:8"
-- why: "Two rows of the source write one."
-- pairs:
-- - {set: {target: id* part* a updated_at^ _hoodie_is_deleted}, from: "id,", to: "id, part,", expect: "exact", why: "The whole key."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
