-- model: false
-- expect: "exact"
-- why: "The time of the number, which rises with it."
-- pairs:
-- - {from: "timestamp_millis(updated_at)", to: "CAST(updated_at / 1000 AS TIMESTAMP)", expect: "exact", why: "The same in other words."}
-- - {from: "timestamp_millis(updated_at)", to: "CAST(updated_at AS TIMESTAMP)", expect: "exact", why: "The time of a number of seconds."}
-- - {from: "timestamp_millis(updated_at)", to: "date_trunc('HOUR', updated_at)", expect: "exact", why: "Of two rows of an hour the one that is written later counts."}
-- - {from: "timestamp_millis(updated_at)", to: "updated_at / -1000", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@13:8", why: "It falls."}
-- - {from: "timestamp_millis(updated_at)", to: "1000 / updated_at", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@13:8", why: "It falls."}
-- - {from: "timestamp_millis(updated_at)", to: "updated_at / a", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@13:8", why: "It follows from another column, too."}
-- - {from: "timestamp_millis(updated_at)", to: "month(updated_at)", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@13:8", why: "It begins again each year."}
-- - {from: "timestamp_millis(updated_at)", to: "timestamp_millis(a)", expect: "inexact ORDERING_MAY_GO_BACK:updated_at@13:8", why: "Another column."}
SELECT id, timestamp_millis(updated_at) AS updated_at, _hoodie_is_deleted
FROM <SRC>
