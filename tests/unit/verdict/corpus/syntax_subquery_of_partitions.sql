-- source: id* day a updated_at^
-- inputs: {d: {columns: d_id* day/ x updated_at^, on: {day: day}}, d_new: {of: d, drives: {day: day}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Of the partitions that are read the subquery looks at the one of its row."
-- pairs:
-- - {from: "WHERE d.day = s.day", to: "", expect: "inexact INPUT_DOES_NOT_DRIVE:d@14:26 PARTITIONS_IN_PART:d@14:26?", why: "At whatever partitions the other rows need."}
-- - {from: "WHERE d.day = s.day", to: "WHERE d.day = s.a", expect: "inexact INPUT_DOES_NOT_DRIVE:d@14:26 PARTITIONS_IN_PART:d@14:26?", why: "At another one."}
-- - {from: "WHERE d.day = s.day", to: "WHERE s.day = d.day AND d.x > 1", expect: "exact", why: "At some of its rows."}
-- - {from: "WHERE d.day = s.day", to: "WHERE d.day <= s.day", expect: "inexact INPUT_DOES_NOT_DRIVE:d@14:26 PARTITIONS_IN_PART:d@14:26?", why: "At those before it."}
-- - {from: "(SELECT max(d.x) FROM d WHERE d.day = s.day)", to: "(SELECT max(d.x) FROM d WHERE d.day = s.day AND d.d_id = s.a)", expect: "exact", why: "By its key, too."}
-- - {from: "(SELECT max(d.x) FROM d WHERE d.day = s.day)", to: "(SELECT max(d.x) FROM d WHERE d.day = s.day AND d.d_id = s.a)", set: {inputs: {d_new: null}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@14:26", why: "Nothing drives."}
-- - {from: "(SELECT max(d.x) FROM d WHERE d.day = s.day)", to: "EXISTS (SELECT 1 FROM d WHERE d.day = s.day AND d.x > 1)", expect: "exact", why: "Whether there is one."}
SELECT s.id, (SELECT max(d.x) FROM d WHERE d.day = s.day) AS x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
