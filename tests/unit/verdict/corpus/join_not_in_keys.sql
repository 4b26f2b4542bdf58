-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: id}}}
-- expect: "exact"
-- why: "Neither side is null, so that it asks for equal values alone."
-- pairs:
-- - {from: "s.id NOT IN", to: "s.a NOT IN", set: {inputs: {d_new: {drives: {id: a}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@9:71", why: "Of null it depends on whether there is any row at all."}
-- - {from: "s.id NOT IN", to: "s.a NOT IN", set: {source: id* a! b updated_at^, inputs: {d_new: {drives: {id: a}}}}, expect: "exact", why: "It is never null."}
-- - {from: "SELECT d.id FROM d", to: "SELECT d.x FROM d", set: {inputs: {d_new: {drives: {x: id}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@9:72", why: "One null, and nothing is in or out."}
-- - {from: "s._hoodie_is_deleted OR s.id NOT IN (SELECT d.id FROM d) AS _hoodie_is_deleted\nFROM <SRC> s", to: "s._hoodie_is_deleted\nFROM <SRC> s\nWHERE s.id NOT IN (SELECT d.id FROM d)", expect: "inexact PARTNER_DECIDES_ROWS:d@11:7", why: "It drops the row."}
SELECT s.id, s.updated_at, s._hoodie_is_deleted OR s.id NOT IN (SELECT d.id FROM d) AS _hoodie_is_deleted
FROM <SRC> s
