-- target: id* a b^ _hoodie_is_deleted
-- expect: "inexact ORDERING_MAY_GO_BACK:b@10:8"
-- why: "A correction with a smaller b loses against the older row."
-- pairs:
-- - {from: "b,", to: "updated_at AS b,", expect: "exact", why: "The source's own ordering field."}
-- - {from: "b,", to: "<SRC_INSTANT> AS b,", expect: "exact", why: "The run's."}
-- - {from: "b,", to: "-updated_at AS b,", expect: "inexact ORDERING_MAY_GO_BACK:b@10:8", why: "It falls where the source's rises."}
-- - {from: "b,", to: "greatest(updated_at, 0) AS b,", expect: "inexact ORDERING_MAY_GO_BACK:b@10:8", model: false, why: "It rises, and freshet does not follow functions."}
-- - {from: "b,", to: "1 AS b,", expect: "exact", why: "Of two rows with one value the one that is written later wins."}
SELECT id, a, b, _hoodie_is_deleted
FROM <SRC>
