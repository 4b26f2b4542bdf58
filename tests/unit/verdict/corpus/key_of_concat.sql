-- model: false
-- expect: "exact"
-- why: "A constant before the key."
-- pairs:
-- - {from: "concat('x-', id)", to: "concat_ws('-', 'x', id)", expect: "exact", why: "The same in other words."}
-- - {from: "concat('x-', id)", to: "concat_ws(id, 'x')", expect: "inexact KEYS_MAY_COLLIDE:id@9:18?", why: "A separator of one value is not there."}
-- - {from: "concat('x-', id)", to: "concat(NULL, id)", expect: "inexact KEYS_MAY_COLLIDE:id@9:21?", why: "All of it is null."}
-- - {from: "concat('x-', id)", to: "to_json(struct(id), map('dateFormat', 'yyyy'))", expect: "inexact KEYS_MAY_COLLIDE:id@9:23?", why: "Two days of a year are one."}
SELECT concat('x-', id) AS id, updated_at, _hoodie_is_deleted
FROM <SRC>
