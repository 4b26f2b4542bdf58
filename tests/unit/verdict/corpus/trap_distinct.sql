-- target: a* updated_at^ _hoodie_is_deleted
-- expect: "inexact GROUP_MAY_VANISH@4:17 OLD_GROUP_NOT_TOUCHED:a@4:17"
-- why: "The value of which the last row goes stays in the target."
SELECT DISTINCT a, 1 AS updated_at, false AS _hoodie_is_deleted
FROM <SRC>
