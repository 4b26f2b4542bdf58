-- source: id* g v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: g* n at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The same with the table read whole, and no semi-join to narrow it."
-- pairs:
-- - {from: "count(*)", to: "count(distinct v)", expect: "exact", why: "Any aggregate of the whole group will do."}
-- - {from: "count(*)", to: "first(v)", expect: "inexact ORDER_IS_OPEN:first@24:26?", model: false, why: "Which row is the first nobody says."}
-- - {from: "count(*)", to: "max_by(v, updated_at)", expect: "inexact ORDER_IS_OPEN:max_by@24:27?", model: false, why: "Two rows may have one time."}
-- - {from: "count(*)", to: "max_by(v, id)", expect: "exact", model: false, why: "No two rows have one id."}
-- - {from: "count(*)", to: "sort_array(collect_list(v))", expect: "exact", model: false, why: "Sorted it is the same in any order."}
-- - {from: "FROM rows GROUP", to: "FROM rows WHERE v > 1 GROUP", expect: "exact", why: "A group of which no row is left is marked, and recomputed so."}
-- - {from: "FROM rows GROUP", to: "FROM before GROUP", expect: "inexact BEFORE_AS_DATA@24:55?", why: "The rows of before are not counted by a recompute."}
-- - {from: "SELECT g FROM <SRC>", to: "SELECT g FROM <SRC> WHERE v > 1", expect: "inexact ROWS_FILTERED@21:29", why: "A row that changes from 2 to 1 does not name its group."}
-- - {from: "SELECT g FROM <SRC>", to: "SELECT g FROM <SRC> WHERE id > 1", expect: "inexact GROUP_MAY_VANISH@21:10?", why: "A group whose only row of a greater id goes keeps its row, though others are left in it."}
-- - {from: "SELECT g FROM <SRC>", to: "SELECT g FROM <SRC> WHERE NOT _hoodie_is_deleted", expect: "exact", why: "The row of before names the group of a deleted row, too."}
-- - {from: "SELECT g FROM <SRC>", to: "SELECT g FROM <SRC> WHERE g > 1", expect: "inexact ROWS_FILTERED@21:29", why: "A row whose g falls is not in the result, and the rows of before name groups that those of now do not."}
-- - {from: "SELECT g FROM <SRC>\n  UNION\n  SELECT b.g FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id", to: "SELECT g FROM <SRC> WHERE id <> 2\n  UNION\n  SELECT b.g FROM before b LEFT SEMI JOIN (SELECT id FROM <SRC> WHERE id <> 2) c ON c.id = b.id", expect: "inexact GROUP_MAY_VANISH@21:10?", why: "A group stays of which all rows that are left are left out."}
-- - {from: "ON c.id = b.id\n", to: "ON c.id = b.id WHERE b.id <> 2\n", expect: "inexact GROUP_MAY_VANISH@21:10?", why: "The row of id 2 leaves its group, which nothing names."}
WITH t AS (
  SELECT g FROM <SRC>
  UNION
  SELECT b.g FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id
), s AS (SELECT g, count(*) AS n FROM rows GROUP BY g)
SELECT t.g, s.n, <SRC_INSTANT> AS at, s.g IS NULL AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.g = t.g
