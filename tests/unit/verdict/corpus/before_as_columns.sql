-- source: id* a updated_at^
-- inputs: {before: {of: SRC, as_of: checkpoint}}
-- target: id* a was updated_at^ _hoodie_is_deleted
-- expect: "inexact BEFORE_AS_DATA@9:11?"
-- why: "A recompute has no rows of before."
WITH b AS (SELECT b.id, b.a FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id)
SELECT s.id, s.a, b.a AS was, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN b ON b.id = s.id
