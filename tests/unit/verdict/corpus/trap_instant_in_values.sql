-- target: id* x at updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "When a row was computed is another instant for a recompute, and says no more than that."
-- pairs:
-- - {from: "s.a AS x", to: "<SRC_INSTANT> - s.a AS x", expect: "inexact NOT_DETERMINISTIC:x@10:8?", why: "The age of a row stays what it was when the row changed."}
-- - {from: "s._hoodie_is_deleted\n", to: "s._hoodie_is_deleted OR s.b < <SRC_INSTANT> AS _hoodie_is_deleted\n", expect: "inexact NOT_DETERMINISTIC:_hoodie_is_deleted@10:8?", why: "A row that is over by now stays until it changes."}
-- - {from: "FROM <SRC> s", to: "FROM <SRC> s\nWHERE s.id < <SRC_INSTANT>", expect: "inexact NOT_DETERMINISTIC:<SRC_INSTANT>@12:7", why: "Which rows there are is another thing in another run."}
-- - {from: "SELECT s.id", to: "SELECT s.id, <SRC_INSTANT> AS k", set: {target: id* k* x at updated_at^ _hoodie_is_deleted}, expect: "inexact KEY_MAY_CHANGE:k@10:8", why: "A new row for each run."}
SELECT s.id, s.a AS x, <SRC_INSTANT> AS at, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
