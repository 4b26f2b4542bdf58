-- inputs: {d: {columns: id* updated_at^}}
-- target: id* updated_at^ _hoodie_is_deleted
-- expect: "inexact SET_OPERATION_OF_PART:EXCEPT@7:8"
-- why: "What d gets later is not taken out."
-- pairs:
-- - {from: "EXCEPT", to: "INTERSECT", expect: "inexact SET_OPERATION_OF_PART:INTERSECT@7:8", why: "What d loses later stays."}
SELECT id, 1 AS updated_at, _hoodie_is_deleted FROM <SRC>
EXCEPT
SELECT id, 1 AS updated_at, false FROM d
