-- model: false
-- target: id* x* updated_at^ _hoodie_is_deleted
-- expect: "inexact FAN_OUT:explode KEY_MAY_CHANGE:x"
-- why: "Fewer elements the next time leave rows behind."
-- pairs:
-- - {from: "split(a, ',')", to: "array('u', 'v')", expect: "exact", model: true, why: "The same two rows each time."}
-- - {from: "explode(split(a, ','))", to: "posexplode(split(a, ','))", model: false, expect: "inexact FAN_OUT:posexplode", why: "Rows by their position leave rows behind, too."}
SELECT id, explode(split(a, ',')) AS x, updated_at, _hoodie_is_deleted
FROM <SRC>
