-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "A day is a day."
-- pairs:
-- - {from: "DATE '2024-01-31'", to: "DATE 'today'", expect: "inexact NOT_DETERMINISTIC:today@10:23", why: "The day of the run."}
-- - {from: "DATE '2024-01-31'", to: "TIMESTAMP 'now'", expect: "inexact NOT_DETERMINISTIC:now@10:23", why: "The time of the run."}
-- - {from: "DATE '2024-01-31'", to: "localtimestamp", expect: "inexact NOT_DETERMINISTIC:localtimestamp@10:28", why: "The time of the run."}
-- - {from: "(VALUES (1))", to: "(VALUES (current_date()))", expect: "inexact NOT_DETERMINISTIC:current_date@12:41", why: "The day of the run, in a list."}
SELECT s.id, datediff(s.a, DATE '2024-01-31') + l.n AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
CROSS JOIN (VALUES (1)) AS l(n)
