-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "All columns but two."
-- pairs:
-- - {from: "EXCEPT (b, c)", to: "EXCEPT (b, c, _hoodie_is_deleted)", expect: "inexact DELETES_STAY:SRC@7:8", why: "The mark of deleted rows is left out."}
SELECT * EXCEPT (b, c) FROM <SRC>
