-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact PYTHON_STEP:step.py@1:1?"
-- why: "Nothing can be said of it."
-- pairs:
-- - {set: {exactness: row_by_row}, expect: "exact", why: "Its author says that each row gives one."}
-- - {set: {accepts: [{code: PYTHON_STEP}]}, expect: "exact_if PYTHON_STEP:step.py@1:1?", why: "Its author accepts it."}
SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>
-- python step
