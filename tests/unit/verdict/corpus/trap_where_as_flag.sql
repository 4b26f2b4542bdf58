-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The row is in the result whatever it holds, and marked where it is not wanted."
-- pairs:
-- - {from: "OR NOT", to: "AND NOT", expect: "inexact DELETES_STAY:SRC@8:8", why: "A deleted row of 5 is not marked any more."}
-- - {from: "_hoodie_is_deleted OR NOT (a > 0)", to: "NOT (a > 0)", expect: "inexact DELETES_STAY:SRC@8:8", why: "A deleted row of 5 is not marked."}
-- - {from: "NOT (a > 0)", to: "coalesce(a, 0) <= 0", expect: "exact", why: "Any condition will do."}
SELECT id, a, updated_at, _hoodie_is_deleted OR NOT (a > 0) AS _hoodie_is_deleted
FROM <SRC>
