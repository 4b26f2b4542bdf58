-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- exactness: row_by_row
-- expect: "exact"
-- why: "What the step did to the columns it did row by row; the SQL behind it hands them on."
-- pairs:
-- - {from: " FROM <SRC>", to: " FROM <SRC> WHERE a > 0", expect: "inexact ROWS_FILTERED@10:63", why: "A filter behind a Python step."}
-- - {set: {exactness: none}, expect: "inexact PYTHON_STEP:step.py@1:1?", why: "Nothing can be said of it."}
-- python step
SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>
