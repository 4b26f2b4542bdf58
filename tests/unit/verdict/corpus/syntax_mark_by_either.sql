-- expect: "exact"
-- why: "True where b is 1, else as the source marks it: true of each deleted row."
-- pairs:
-- - {from: "THEN true", to: "THEN false", expect: "inexact DELETES_STAY:SRC@6:8", why: "Not true of a deleted row whose b is 1."}
-- - {from: "ELSE s._hoodie_is_deleted END", to: "WHEN s.b = 2 THEN s._hoodie_is_deleted END", expect: "inexact DELETES_STAY:SRC@6:8", why: "Null of the others."}
SELECT s.id, s.updated_at, CASE WHEN s.b = 1 THEN true ELSE s._hoodie_is_deleted END AS _hoodie_is_deleted
FROM <SRC> s
