-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Each row is there; what it finds of itself follows from it."
-- pairs:
-- - {from: "LEFT JOIN", to: "JOIN", expect: "inexact ROWS_FILTERED@15:77", why: "A row that the condition no longer holds for is dropped."}
-- - {from: "o.id = s.id", to: "o.id = s.id\nWHERE o.id IS NOT NULL", expect: "inexact ROWS_FILTERED@19:7", why: "An inner join in other words."}
-- - {from: "s.updated_at, s._", to: "o.updated_at, s._", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@15:6", why: "Null where the condition does not hold, which is older than any."}
-- - {from: "s._hoodie_is_deleted\n", to: "o._hoodie_is_deleted\n", expect: "inexact DELETES_STAY:SRC@15:6", why: "Not marked where the condition does not hold."}
-- - {from: "SELECT s.id, o.a AS x", to: "SELECT s.id, coalesce(o.id, 0) AS x", set: {target: id* x* updated_at^ _hoodie_is_deleted}, expect: "inexact KEY_MAY_CHANGE:x@15:6", why: "A part of the key that goes with the condition."}
-- - {from: "LEFT JOIN some o ON o.id = s.id", to: "LEFT JOIN <SRC> o ON o.id = s.id AND o.a > 1", expect: "exact", why: "The condition in the join."}
-- - {from: "s.updated_at, s._hoodie_is_deleted\nFROM <SRC> s\nLEFT JOIN some o ON o.id = s.id", to: "o.updated_at, s._hoodie_is_deleted\nFROM <SRC> s\nLEFT JOIN <SRC> o ON o.id = s.id AND o.a > 1", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@15:6", why: "Null where the condition does not hold."}
-- - {from: "s.updated_at, s._hoodie_is_deleted\nFROM <SRC> s\nLEFT JOIN some o ON o.id = s.id", to: "o.updated_at, s._hoodie_is_deleted\nFROM <SRC> s\nLEFT JOIN <SRC> o ON o.id = s.id", expect: "exact", why: "It finds itself each time."}
-- - {from: "LEFT JOIN some o ON o.id = s.id", to: "LEFT JOIN <SRC> o ON o.id = s.id AND o.a > 1\nWHERE o.id IS NOT NULL", expect: "inexact ROWS_FILTERED@19:7", why: "An inner join in other words."}
-- - {from: "LEFT JOIN some o ON o.id = s.id", to: "LEFT JOIN <SRC> o ON o.id = s.id AND o.a > 1\nWHERE o.id IS NOT NULL", set: {facts: false}, expect: "inexact ROWS_FILTERED@19:7", why: "The same of tables of which nobody tells the columns."}
WITH some AS (SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC> WHERE a > 1)
SELECT s.id, o.a AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN some o ON o.id = s.id
