-- operation: delete
-- target: id* updated_at^
-- model: false
-- expect: "inexact NOT_RECOMPUTABLE@1:1?"
-- why: "What is left cannot be recomputed."
SELECT id, updated_at FROM <SRC>
