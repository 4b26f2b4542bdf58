-- inputs: {t: {columns: id* x updated_at^, read: incremental, drives: {id: id}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "inexact LOOKBACK_IS_BOUNDED:t@9:11"
-- why: "A row that changes a week after its tip finds no tip."
-- pairs:
-- - {from: "JOIN t ON", to: "JOIN t0 t ON", set: {inputs: {t0: {of: t}}}, expect: "exact", why: "The look-back only drives, and all rows are looked up."}
SELECT s.id, t.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN t ON t.id = s.id
