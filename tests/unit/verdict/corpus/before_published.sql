-- source: id* a updated_at^
-- inputs: {before: {of: SRC, as_of: checkpoint}}
-- target: id* a at^ _hoodie_is_deleted
-- expect: "inexact BEFORE_AS_DATA:SRC@8:8 DELETES_STAY:SRC@8:8"
-- why: "The rows of before are published with their old values."
-- pairs:
-- - {from: "SELECT b.id, b.a,", to: "SELECT b.id, c.a,", expect: "inexact BEFORE_AS_DATA:SRC@8:8 DELETES_STAY:SRC@8:8", why: "Only what was there before is published."}
SELECT b.id, b.a, <SRC_INSTANT> AS at, false AS _hoodie_is_deleted
FROM before b
JOIN <SRC> c ON c.id = b.id
