-- inputs: {old: {of: TARGET}}
-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact NOT_RECOMPUTABLE@1:1? INPUT_DOES_NOT_DRIVE:old@8:11"
-- why: "What it holds follows from what it held: a recompute begins with nothing."
SELECT s.id, coalesce(s.a, o.a) AS a, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN old o ON o.id = s.id
