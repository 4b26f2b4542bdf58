-- source: id* a updated_at^
-- inputs: {before: {of: SRC, as_of: checkpoint}}
-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact BEFORE_AS_DATA@6:8?"
-- why: "The rows of before are published beside those of now."
SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>
UNION ALL
SELECT b.id, b.a, b.updated_at, false FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id
