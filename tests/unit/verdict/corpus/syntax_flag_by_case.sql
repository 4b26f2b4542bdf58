-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "What a deleted row is asked first makes it a deleted one."
-- pairs:
-- - {from: "WHEN _hoodie_is_deleted THEN true WHEN a > 1 THEN true", to: "WHEN a > 1 THEN false WHEN _hoodie_is_deleted THEN true", expect: "inexact DELETES_STAY:SRC@8:8", why: "A deleted row of 2 is not marked."}
-- - {from: "CASE WHEN _hoodie_is_deleted THEN true WHEN a > 1 THEN true ELSE false END", to: "if(_hoodie_is_deleted, true, a > 1)", expect: "exact", why: "The same in short."}
-- - {from: "CASE WHEN _hoodie_is_deleted THEN true WHEN a > 1 THEN true ELSE false END", to: "coalesce(_hoodie_is_deleted, false) OR a > 1", expect: "exact", why: "The same by OR."}
SELECT id, a, updated_at, CASE WHEN _hoodie_is_deleted THEN true WHEN a > 1 THEN true ELSE false END AS _hoodie_is_deleted
FROM <SRC>
