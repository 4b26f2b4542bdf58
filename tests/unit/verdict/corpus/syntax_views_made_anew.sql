-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact ROWS_FILTERED@8:96"
-- why: "The second one of the name is read."
-- pairs:
-- - {from: "WHERE b = 1", to: "", expect: "exact", why: "Without the filter."}
CREATE TEMP VIEW v AS SELECT * FROM <SRC>;
CREATE OR REPLACE TEMP VIEW v AS SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC> WHERE b = 1;
SELECT * FROM v
