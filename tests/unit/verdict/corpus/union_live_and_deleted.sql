-- target: id* v updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each row is on one side: the deleted ones are marked."
-- pairs:
-- - {from: "WHERE NOT _hoodie_is_deleted", to: "WHERE _hoodie_is_deleted = false", expect: "exact", why: "The same in other words."}
-- - {from: "WHERE NOT _hoodie_is_deleted", to: "WHERE _hoodie_is_deleted IS NOT NULL", expect: "inexact DELETES_STAY:SRC@11:8 KEYS_MAY_COLLIDE:_hoodie_is_deleted@11:8 DELETES_STAY:SRC@11:77", why: "The deleted ones are there, too."}
-- - {from: "WHERE NOT _hoodie_is_deleted", to: "WHERE NOT _hoodie_is_deleted AND a > 1", expect: "inexact ROWS_FILTERED@11:104", why: "A row that is not wanted any more stays."}
-- - {from: "WHERE _hoodie_is_deleted", to: "WHERE _hoodie_is_deleted AND a > 1", expect: "inexact ROWS_FILTERED@13:102?", why: "Of the deleted ones only some."}
-- - {from: "true AS", to: "false AS", expect: "inexact DELETES_STAY:SRC@11:8", why: "What was deleted is written again."}
-- - {from: "SELECT id, NULL", to: "SELECT id + 1 AS id, NULL", expect: "inexact KEYS_MAY_COLLIDE:id@11:8 KEY_MAY_CHANGE:id@11:8", why: "Another row is deleted."}
SELECT id, a AS v, updated_at, false AS _hoodie_is_deleted FROM <SRC> WHERE NOT _hoodie_is_deleted
UNION ALL
SELECT id, NULL AS v, updated_at, true AS _hoodie_is_deleted FROM <SRC> WHERE _hoodie_is_deleted
