-- source: id* part* a updated_at^
-- target: k* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "A struct keeps its fields apart, and so does a digest of it."
-- pairs:
-- - {from: "to_json(struct(id, part))", to: "concat(id, part)", expect: "inexact KEYS_MAY_COLLIDE:id, part@10:20", why: "'1' and '12' make what '11' and '2' make."}
-- - {from: "struct(id, part)", to: "struct(id)", expect: "inexact KEYS_MAY_COLLIDE:part@10:28", why: "One of the two is missing."}
-- - {from: "struct(id, part)", to: "struct(id, a)", expect: "inexact KEYS_MAY_COLLIDE:part@10:28? KEY_MAY_CHANGE:k@10:28", why: "One of the two is another column."}
SELECT sha2(to_json(struct(id, part)), 256) AS k, a, updated_at, _hoodie_is_deleted
FROM <SRC>
