-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Looked up by what drives."
-- pairs:
-- - {from: "WHERE d.id = s.a", to: "", expect: "inexact INPUT_DOES_NOT_DRIVE:d@10:26", why: "The greatest of all follows from every row of d."}
-- - {from: "WHERE d.id = s.a", to: "WHERE d.id < s.a", expect: "inexact INPUT_DOES_NOT_DRIVE:d@10:26", why: "Nothing is held equal."}
-- - {from: "FROM d WHERE d.id = s.a", to: "FROM <SRC> d WHERE d.id = s.a", expect: "inexact GROUP_IN_PART:SRC@10:26", model: false, why: "Of the rows that changed."}
-- - {from: "FROM <SRC> s", to: "FROM <SRC> s WHERE s.b > (SELECT max(e.x) FROM d e)", expect: "inexact ROWS_FILTERED@11:20 INPUT_DOES_NOT_DRIVE:d@11:38", why: "A filter by another table."}
SELECT s.id, (SELECT max(d.x) FROM d WHERE d.id = s.a) AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
