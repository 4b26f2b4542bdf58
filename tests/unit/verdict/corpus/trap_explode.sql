-- model: false
-- target: id* x* updated_at^ _hoodie_is_deleted
-- expect: "inexact KEY_MAY_CHANGE:x@8:8 FAN_OUT:explode@8:26"
-- why: "Fewer elements the next time leave rows behind."
-- pairs:
-- - {from: "split(a, ',')", to: "array('u', 'v')", expect: "exact", model: true, why: "The same two rows each time."}
-- - {from: "explode(split(a, ','))", to: "posexplode(split(a, ','))", model: false, expect: "inexact KEY_MAY_CHANGE:x@8:8 FAN_OUT:posexplode@8:29", why: "Rows by their position leave rows behind, too."}
SELECT id, explode(split(a, ',')) AS x, updated_at, _hoodie_is_deleted
FROM <SRC>
