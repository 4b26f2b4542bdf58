-- target: id* k* v updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "As many rows each time, told apart by their place."
-- pairs:
-- - {from: "posexplode(array(s.a, s.b))", to: "explode(map('a', s.a, 'b', s.b))", expect: "exact", why: "Told apart by the map's keys."}
-- - {from: "posexplode(array(s.a, s.b))", to: "explode(map(s.c, s.a, 'b', s.b))", expect: "inexact KEY_MAY_CHANGE:k@12:8 FAN_OUT:explode@14:26", why: "One of the keys may change."}
-- - {from: "posexplode(array(s.a, s.b))", to: "inline(array(struct('a', s.a), struct('b', s.b)))", expect: "exact", why: "Told apart by a field."}
-- - {from: "posexplode(array(s.a, s.b))", to: "inline(array(struct('a', s.a), struct('a', s.b)))", expect: "inexact KEY_MAY_CHANGE:k@12:8 FAN_OUT:inline@14:39", why: "Nothing tells the two apart."}
-- - {from: "posexplode(array(s.a, s.b))", to: "posexplode(s.c)", expect: "inexact KEY_MAY_CHANGE:k@12:8 FAN_OUT:posexplode@14:25", why: "As many as the list has."}
-- - {set: {target: id* k v updated_at^ _hoodie_is_deleted}, expect: "inexact KEYS_MAY_COLLIDE:k@12:8", why: "Both write one row."}
SELECT s.id, l.k, l.v, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LATERAL VIEW posexplode(array(s.a, s.b)) l AS k, v
