-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "A CTE may have the name of an input, or of the source."
-- pairs:
-- - {from: "WITH d AS (SELECT * FROM <SRC>)", to: "WITH d AS (SELECT * FROM <SRC> WHERE b = 1)", expect: "inexact ROWS_FILTERED@10:38", why: "The name means the CTE."}
-- - {from: "WITH d AS (SELECT * FROM <SRC>)", to: "WITH `SRC` AS (SELECT * FROM <SRC> WHERE b = 1), d AS (SELECT * FROM <SRC>)", expect: "inexact ROWS_FILTERED@10:42", why: "The second one reads the first."}
-- - {from: "WITH d AS (SELECT * FROM <SRC>)", to: "WITH e AS (SELECT * FROM <SRC>)", expect: "inexact GROUP_MAY_VANISH@10:6 INPUT_DOES_NOT_DRIVE:d@10:6 ORDERING_MAY_GO_BACK:updated_at@10:6", why: "The name means the input."}
WITH d AS (SELECT * FROM <SRC>)
SELECT id, a, updated_at, _hoodie_is_deleted FROM d
