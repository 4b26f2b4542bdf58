-- source: id* fare tip toll updated_at^
-- target: id* kind* amount updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "As many rows for each, told apart by the columns' names."
-- pairs:
-- - {from: "INCLUDE NULLS ", to: "", expect: "inexact ROWS_FILTERED:unpivot@18:21", why: "A value that becomes null has no row any more."}
-- - {from: "INCLUDE NULLS ", to: "", set: {source: "id* fare! tip! toll updated_at^"}, expect: "exact", why: "They never become null."}
-- - {set: {target: "id* kind amount updated_at^ _hoodie_is_deleted"}, expect: "inexact KEYS_MAY_COLLIDE:kind@17:8", why: "All of them write one row."}
-- - {from: "fare, tip", to: "fare AS 'a', tip AS 'a'", expect: "inexact KEYS_MAY_COLLIDE:a list of constants@17:8", why: "Two of one name."}
-- - {from: "fare, tip", to: "fare AS 'f', tip AS 't'", expect: "exact", why: "By names of their own."}
-- - {from: "(amount FOR kind IN (fare, tip))", to: "((amount, more) FOR kind IN ((fare, toll), (tip, toll) AS both))", expect: "exact", why: "Two columns at once."}
-- - {from: "FROM <SRC> UNPIVOT", to: "FROM (SELECT * FROM <SRC>) s UNPIVOT", expect: "exact", why: "Of a subquery."}
-- - {from: "IN (fare, tip)) u", to: "IN (fare, tip))", expect: "exact", why: "Without a name."}
-- - {from: "id, kind", to: "u.id, u.kind", expect: "exact", why: "By its name."}
-- - {set: {facts: false}, expect: "inexact NOT_ANALYSED@18:6?", why: "Which columns become rows of which is not known."}
SELECT id, kind, amount, updated_at, _hoodie_is_deleted
FROM <SRC> UNPIVOT INCLUDE NULLS (amount FOR kind IN (fare, tip)) u
