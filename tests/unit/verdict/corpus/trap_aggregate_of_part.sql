-- target: a* n updated_at^ _hoodie_is_deleted
-- expect: "inexact GROUP_IN_PART:SRC@8:10"
-- why: "The group's other rows did not change and are not counted."
-- pairs:
-- - {from: "a, count", to: "id AS a, count", expect: "inexact GROUP_IN_PART:SRC@8:10", why: "Selecting the key does not make it the group's."}
SELECT a, count(*) AS n, max(updated_at) AS updated_at, false AS _hoodie_is_deleted
FROM <SRC>
GROUP BY a
