-- inputs: {rows: {of: SRC}}
-- expect: "exact"
-- why: "Which rows the source's table has no more: the deleted ones."
-- pairs:
-- - {from: "h.id = c.id", to: "h.id = c.id AND h.a = 1", expect: "inexact PARTNER_DECIDES_ROWS:rows@9:16", why: "And those whose a is another one, until it is 1."}
-- - {from: "h.id = c.id", to: "h.id = c.id AND h.a = c.a", expect: "inexact PARTNER_DECIDES_ROWS:rows@9:16", why: "And those whose a is null, until it is not."}
SELECT c.id, c.updated_at, c._hoodie_is_deleted
FROM <SRC> c
LEFT ANTI JOIN rows h ON h.id = c.id
