-- source: id* g at v updated_at^
-- inputs: {rows: {of: SRC}, before: {of: SRC, as_of: checkpoint}}
-- target: g* hour* n ran^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "The window of a time is a value of its row: the windows of the rows of before and of now are touched."
-- pairs:
-- - {from: "r.g, window(r.at, '1 hour')", to: "r.g, window(r.at, '2 hours')", expect: "inexact GROUP_MAY_VANISH@16:6 INPUT_DOES_NOT_DRIVE:rows@27:11", why: "Another window."}
-- - {from: "AS hour FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id", to: "AS hour FROM before b LEFT SEMI JOIN <SRC> c ON c.g = b.g", expect: "inexact ROWS_FILTERED:window@17:20 NOT_ANALYSED@19:22? BEFORE_AS_DATA@19:81?", why: "Not the rows that changed."}
-- - {from: "SELECT r.g, window.start AS hour", to: "SELECT r.g, window(r.at, '1 hour').start AS hour", expect: "exact", why: "Written out."}
-- - {from: "r.g, window(r.at, '1 hour')", to: "r.g, window(r.at, '1 hour', '1 hour', '15 minutes')", expect: "inexact GROUP_MAY_VANISH@16:6 INPUT_DOES_NOT_DRIVE:rows@27:11", why: "Begins a quarter later."}
-- - {from: "r.g, window(r.at, '1 hour')", to: "r.g, window(r.at, '1 hour', '10 minutes')", expect: "inexact GROUP_MAY_VANISH@16:6 NOT_ANALYSED@23:24? FAN_OUT:rows@27:11? INPUT_DOES_NOT_DRIVE:rows@27:11", why: "Six windows for each row."}
-- - {from: "r.g, window(r.at, '1 hour')", to: "r.g, session_window(r.at, '1 hour')", expect: "inexact GROUP_MAY_VANISH@16:6 NOT_ANALYSED@23:32? FAN_OUT:rows@27:11? INPUT_DOES_NOT_DRIVE:rows@27:11", why: "As long as rows follow each other."}
-- - {from: "s.g IS NULL AS", to: "false AS", expect: "inexact GROUP_MAY_VANISH@16:6", why: "A window that is empty stays."}
-- - {from: "\n  UNION\n  SELECT b.g, window(b.at, '1 hour').start AS hour FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id", to: "", expect: "inexact DELETES_STAY:SRC@16:6? KEYS_MAY_COLLIDE:id@16:6? KEY_MAY_CHANGE:g@16:6 KEY_MAY_CHANGE:hour@16:6 ROWS_FILTERED:window@17:20 INPUT_DOES_NOT_DRIVE:rows@25:11?", why: "A row that moves to another hour leaves the old one."}
WITH t AS (
  SELECT g, window(at, '1 hour').start AS hour FROM <SRC>
  UNION
  SELECT b.g, window(b.at, '1 hour').start AS hour FROM before b LEFT SEMI JOIN <SRC> c ON c.id = b.id
), s AS (
  SELECT r.g, window.start AS hour, count(*) AS n
  FROM rows r
  GROUP BY r.g, window(r.at, '1 hour')
)
SELECT t.g, t.hour, s.n, <SRC_INSTANT> AS ran, s.g IS NULL AS _hoodie_is_deleted
FROM t
LEFT JOIN s ON s.g = t.g AND s.hour = t.hour
