-- source: id* info updated_at^
-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: id}}}
-- target: id* city updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "A field of a struct is a part of a column."
-- pairs:
-- - {from: "d.id = s.id", to: "d.id = s.info.city_id", expect: "inexact INPUT_DOES_NOT_DRIVE:d@12:11", why: "The row is looked up by a field, and what drives is a column."}
-- - {from: "SELECT s.id,", to: "SELECT s.info.id AS id,", expect: "inexact KEYS_MAY_COLLIDE:id@10:8 KEY_MAY_CHANGE:id@10:8", why: "The record key is a field of a column that changes."}
SELECT s.id, s.info.address.city AS city, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.id
