-- target: id* b updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "It is never null: coalesce leaves it as it is."
-- pairs:
-- - {from: "coalesce(s.updated_at, 0)", to: "coalesce(s.a, s.updated_at)", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@7:8", why: "Another column, where it is there."}
-- - {from: "coalesce(s.updated_at, 0)", to: "CAST(NULL AS BIGINT)", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@7:8", model: false, why: "No order at all."}
SELECT s.id, s.b, coalesce(s.updated_at, 0) AS updated_at, s._hoodie_is_deleted
FROM <SRC> s
