-- target: k* n updated_at^ _hoodie_is_deleted
-- expect: "inexact GROUP_IN_PART:SRC@4:13"
-- why: "All rows are one group."
SELECT 1 AS k, sum(a) AS n, max(updated_at) AS updated_at, false AS _hoodie_is_deleted
FROM <SRC>
