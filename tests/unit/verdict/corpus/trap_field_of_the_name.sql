-- model: false
-- expect: "exact"
-- why: "A field of the column may change, as any value may; the record key is the column."
-- pairs:
-- - {from: "s.a.a AS x", to: "s.id.id AS k", set: {target: k* updated_at^ _hoodie_is_deleted}, expect: "inexact KEYS_MAY_COLLIDE:id@6:8", why: "A field of the record key is not the record key."}
SELECT s.id, s.a.a AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
