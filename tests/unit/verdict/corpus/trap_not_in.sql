-- inputs: {d: {columns: id* updated_at^}}
-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:d@9:7 PARTNER_DECIDES_ROWS:d@9:7"
-- why: "An id that d gets later stays published."
-- pairs:
-- - {from: "NOT IN", to: "IN", expect: "inexact INPUT_DOES_NOT_DRIVE:d@9:7 PARTNER_DECIDES_ROWS:d@9:7", why: "An id that d loses later stays published."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
WHERE id NOT IN (SELECT id FROM d)
