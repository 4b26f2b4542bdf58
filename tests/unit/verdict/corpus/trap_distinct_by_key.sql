-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "With the key in it every row is another one."
-- pairs:
-- - {from: "id, a", to: "a AS id, a", expect: "inexact GROUP_MAY_VANISH@6:17 KEYS_MAY_COLLIDE:_hoodie_is_deleted, updated_at@6:17? OLD_GROUP_NOT_TOUCHED:_hoodie_is_deleted, a, updated_at@6:17 ORDERING_MAY_GO_BACK:updated_at@6:17", why: "The record key is a value that changes and that rows share."}
SELECT DISTINCT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
