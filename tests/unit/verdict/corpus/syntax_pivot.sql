-- source: id* g v updated_at^
-- target: id* updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact NOT_ANALYSED@9:23?"
-- why: "A PIVOT aggregates; freshet does not follow it."
-- pairs:
-- - {from: "(SELECT id, g, v, updated_at, _hoodie_is_deleted FROM <SRC>)", to: "<SRC>", expect: "inexact NOT_ANALYSED@9:15?", why: "The same on the table itself."}
-- - {from: "PIVOT (max(v) FOR g IN (1, 2))", to: "TABLESAMPLE (10 PERCENT)", expect: "inexact NOT_ANALYSED@9:23?", why: "A sample of chance."}
SELECT * FROM (SELECT id, g, v, updated_at, _hoodie_is_deleted FROM <SRC>) PIVOT (max(v) FOR g IN (1, 2))
