-- source: id* a b updated_at^
-- target: id* a updated_at^ _hoodie_is_deleted
-- records: false
-- expect: "inexact DELETES_STAY:SRC@6:8"
-- why: "The source keeps no change data: its deletes are in no increment, whatever the DDL declares."
SELECT id, a, updated_at, false AS _hoodie_is_deleted
FROM <SRC>
