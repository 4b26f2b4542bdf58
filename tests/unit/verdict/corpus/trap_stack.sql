-- target: id* line* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each row gives two rows, told apart by a constant that is in the key."
-- pairs:
-- - {set: {target: id* line x updated_at^ _hoodie_is_deleted}, expect: "inexact KEYS_MAY_COLLIDE:line@8:8", why: "Both write one row."}
-- - {from: "'v', b", to: "'u', b", expect: "inexact KEY_MAY_CHANGE:line@8:8 FAN_OUT:stack@8:26", why: "Nothing tells the two apart."}
-- - {from: "'v', b", to: "c, b", expect: "inexact KEY_MAY_CHANGE:line@8:8 FAN_OUT:stack@8:26", why: "The second row's key may change."}
SELECT id, stack(2, 'u', a, 'v', b) AS (line, x), updated_at, _hoodie_is_deleted
FROM <SRC>
