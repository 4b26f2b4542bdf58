-- source: id* at v updated_at^
-- target: id* hour v updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact ROWS_FILTERED:window@11:19"
-- why: "A row without a time has no window, and is not in the result."
-- pairs:
-- - {set: {source: id* at! v updated_at^}, expect: "exact", why: "It has one."}
-- - {from: "window(at,", to: "window(updated_at,", expect: "exact", why: "An ordering field is never null."}
-- - {from: "window(at, '1 hour').start", to: "date_trunc('HOUR', at)", expect: "exact", why: "Null where the time is."}
-- - {from: "window(at, '1 hour').start", to: "date_trunc('HOUR', at) AS hour, max(v) OVER window", expect: "inexact WINDOW_IN_PART:SRC@11:48", why: "A window of rows, which has another meaning."}
SELECT id, window(at, '1 hour').start AS hour, v, updated_at, _hoodie_is_deleted
FROM <SRC>
