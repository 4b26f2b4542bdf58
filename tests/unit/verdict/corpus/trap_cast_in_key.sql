-- target: k* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Two numbers never have one text."
-- pairs:
-- - {from: "AS string", to: "AS int", expect: "inexact KEYS_MAY_COLLIDE:id@9:13", model: false, why: "'1' and '01' are one number."}
-- - {from: "cast(id AS string)", to: "concat('x', id)", expect: "exact", why: "A constant before it tells as much apart."}
-- - {from: "cast(id AS string)", to: "upper(id)", model: false, expect: "inexact KEYS_MAY_COLLIDE:id@9:14", why: "'a' and 'A' are one."}
-- - {from: "cast(id AS string)", to: "id % 2", expect: "inexact KEYS_MAY_COLLIDE:id@9:8", why: "Many have one remainder."}
SELECT cast(id AS string) AS k, a, updated_at, _hoodie_is_deleted
FROM <SRC>
