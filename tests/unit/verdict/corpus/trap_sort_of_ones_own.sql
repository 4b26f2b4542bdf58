-- inputs: {d: {columns: id* k x updated_at^}, d_new: {of: d, drives: {k: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "A list that is sorted by its values is the same each time."
-- pairs:
-- - {from: "array_sort(collect_list(x))", to: "array_sort(collect_list(x), (l, r) -> 0)", expect: "inexact ORDER_IS_OPEN:array_agg@10:46?", why: "What the comparison takes for one is in the order in which it came."}
SELECT s.id, l.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN (SELECT k, array_sort(collect_list(x)) AS x FROM d GROUP BY k) l ON l.k = s.a
