-- target: id* a updated_at^
-- expect: "inexact DELETES_STAY:SRC@9:8"
-- why: "A row that the source deletes stays."
-- pairs:
-- - {set: {accepts: [{code: DELETES_STAY}]}, expect: "exact_if DELETES_STAY:SRC@9:8", why: "The author knows that the source never deletes."}
-- - {set: {target: id* a updated_at^ _hoodie_is_deleted}, from: "updated_at\n", to: "updated_at, _hoodie_is_deleted\n", expect: "exact", why: "Deletes are passed on."}
-- - {set: {target: id* a updated_at^ _hoodie_is_deleted}, from: "updated_at\n", to: "updated_at, false AS _hoodie_is_deleted\n", expect: "inexact DELETES_STAY:SRC@9:8", why: "A deleted row is written as a live one."}
-- - {set: {target: id* a updated_at^ _hoodie_is_deleted}, from: "updated_at\n", to: "updated_at, cast(NULL AS boolean) AS _hoodie_is_deleted\n", expect: "inexact DELETES_STAY:SRC@9:8", why: "The same with null."}
SELECT id, a, updated_at
FROM <SRC>
