-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact NOT_ANALYSED@9:24?"
-- why: "Nobody knows what it does."
-- pairs:
-- - {from: "my_function(a)", to: "xxhash64(a)", expect: "exact", why: "One of Spark's."}
-- - {from: "my_function(a)", to: "try_avg(a)", expect: "inexact GROUP_IN_PART:SRC@9:8", why: "An aggregate that the parser does not know."}
-- - {from: "my_function(a)", to: "json_tuple(a, 'x')", expect: "exact", why: "One row for each, whatever the text is."}
SELECT id, my_function(a) AS a, updated_at, _hoodie_is_deleted FROM <SRC>
