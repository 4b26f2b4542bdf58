-- target: a* updated_at^ _hoodie_is_deleted
-- expect: "inexact DELETES_STAY OLD_GROUP_NOT_TOUCHED ORDERING_MAY_GO_BACK"
-- why: "The value of which the last row goes stays in the target."
SELECT DISTINCT a, 1 AS updated_at, false AS _hoodie_is_deleted
FROM <SRC>
