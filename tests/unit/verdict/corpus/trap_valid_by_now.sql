-- inputs: {d: {columns: id* x lo updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "What holds at the time that the row itself says."
-- pairs:
-- - {from: "d.lo <= s.b", to: "d.lo <= <SRC_INSTANT>", expect: "inexact NOT_DETERMINISTIC:<SRC_INSTANT>@14:31", why: "It begins to hold with no change at all."}
-- - {from: "FROM <SRC> s\nLEFT JOIN d ON d.id = s.a AND d.lo <= s.b", to: "FROM <SRC> s\nLEFT JOIN (SELECT id, x FROM d WHERE lo <= <SRC_INSTANT>) d ON d.id = s.a", expect: "inexact NOT_DETERMINISTIC:<SRC_INSTANT>@14:38", why: "The same in the dimension."}
-- - {from: "FROM <SRC> s\nLEFT JOIN d ON d.id = s.a AND d.lo <= s.b", to: "FROM <SRC> s\nCROSS JOIN (SELECT <SRC_INSTANT> AS now) p\nLEFT JOIN d ON d.id = s.a AND d.lo <= p.now", expect: "inexact NOT_DETERMINISTIC:<SRC_INSTANT>@15:31", why: "The same by another name."}
-- - {from: "SELECT s.id, d.x,", to: "SELECT s.id, (SELECT max(e.x) FROM d e WHERE e.id = s.a AND e.lo + s.b <= <SRC_INSTANT>) AS x,", expect: "inexact NOT_DETERMINISTIC:<SRC_INSTANT>@12:61", why: "The same in a subquery."}
-- - {from: "SELECT s.id, d.x,", to: "SELECT s.id, (SELECT sum(e.x) FILTER (WHERE e.lo <= <SRC_INSTANT>) FROM d e WHERE e.id = s.a) AS x,", expect: "inexact NOT_DETERMINISTIC:x@12:8?", why: "The same in an aggregate."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a AND d.lo <= s.b
