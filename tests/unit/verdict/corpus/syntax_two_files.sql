-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "The second file reads the first one's result."
-- pairs:
-- - {from: "FROM <SRC> x", to: "FROM <SRC> x WHERE x.a > 0", expect: "inexact ROWS_FILTERED@11:73", why: "A filter in the second one."}
-- - {from: "FROM <SRC> x", to: "FROM v x", expect: "inexact NOT_ANALYSED@11:59?", why: "A view over <SRC>, which is another one in the second file."}
CREATE TEMP VIEW v AS SELECT * FROM <SRC>;
SELECT id, a, updated_at, _hoodie_is_deleted FROM v
-- next file
SELECT x.id, x.a, x.updated_at, x._hoodie_is_deleted FROM <SRC> x
