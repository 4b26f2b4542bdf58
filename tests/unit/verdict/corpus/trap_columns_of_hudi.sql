-- target: id* f updated_at^ _hoodie_is_deleted
-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- model: false
-- expect: "inexact NOT_ANALYSED:_hoodie_file_name@17:14?"
-- why: "Hudi gives a row another file when it rewrites the rows beside it, and no run hands that column to the SQL."
-- pairs:
-- - {from: "s._hoodie_file_name", to: "s.a", expect: "exact", why: "A column of the table."}
-- - {from: "s._hoodie_file_name", to: "s._hoodie_commit_time", expect: "inexact NOT_ANALYSED:_hoodie_commit_time@17:14?", why: "When Hudi wrote it."}
-- - {from: "s._hoodie_file_name", to: "_hoodie_partition_path", expect: "inexact NOT_ANALYSED:_hoodie_partition_path@17:14?", why: "Where it lies."}
-- - {from: "s._hoodie_file_name", to: "s._metadata.file_name", expect: "inexact NOT_ANALYSED:_metadata@17:14?", why: "The same by Spark."}
-- - {set: {facts: false}, expect: "inexact NOT_ANALYSED:_hoodie_file_name@17:14?", why: "Whether or not anyone says which columns the table has."}
-- - {from: "s._hoodie_file_name AS f", to: "s.a AS f", set: {facts: false}, expect: "exact", why: "Which may have this one."}
-- - {from: "s._hoodie_file_name", to: "d._hoodie_commit_time", expect: "inexact NOT_ANALYSED:_hoodie_commit_time@17:14?", why: "Of another table."}
-- - {from: "s._hoodie_file_name", to: "row_number() OVER (PARTITION BY s.id ORDER BY s._hoodie_commit_seqno)", expect: "inexact NOT_ANALYSED:_hoodie_commit_seqno@17:60?", why: "As an order."}
-- - {from: "AND d.id > 0", to: "AND d._hoodie_commit_time > '2026'", expect: "inexact NOT_ANALYSED:_hoodie_file_name@17:14? NOT_ANALYSED:_hoodie_commit_time@19:31?", why: "In a join."}
-- - {from: "<SRC> s", to: "(SELECT *, b AS _hoodie_file_name FROM <SRC>) s", expect: "exact", why: "A column that the SQL makes has whatever name it likes."}
SELECT s.id, s._hoodie_file_name AS f, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a AND d.id > 0
