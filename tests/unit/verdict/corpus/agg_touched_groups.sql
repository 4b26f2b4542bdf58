-- source: id* g v day/! updated_at^
-- inputs: {rows: {of: SRC, on: {day: day}}, before: {of: SRC, on: {day: day}, as_of: checkpoint}}
-- target: g* day* n total at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Groups of both images, each summed from all of its rows, and taken out where none is left."
-- pairs:
-- - {from: "ON c.id = b.id\n", to: "ON c.id = b.id AND c.g = b.g\n", expect: "inexact BEFORE_AS_DATA@30:16?", why: "A row that changes its group is not found, and it is the one that counts."}
-- - {from: "ON c.id = b.id\n", to: "ON c.id = b.id AND c.day = b.day\n", set: {source: id* g v day/ updated_at^}, expect: "inexact BEFORE_AS_DATA@30:16?", why: "A row of the partition of null is not found by its partition."}
-- - {from: "ON c.id = b.id\n", to: "ON c.id = b.id AND c.day <=> b.day\n", set: {source: id* g v day/ updated_at^}, expect: "exact", why: "Null-safe it is."}
-- - {from: "ON c.id = b.id\n", to: "ON c.id = b.id AND c.day = b.day\n", expect: "exact", why: "A row that changes its partition is in <SRC> as it was, too."}
-- - {from: "ON c.id = b.id\n", to: "ON c.g = b.g\n", expect: "inexact BEFORE_AS_DATA@30:16?", why: "Not the rows that changed, but those of their new groups."}
-- - {from: "UNION\nSELECT b.g, b.day\nFROM before b\nLEFT SEMI JOIN changed c ON c.id = b.id\n", to: "", expect: "inexact DELETES_STAY:SRC@29:6? KEYS_MAY_COLLIDE:id@29:6? KEY_MAY_CHANGE:g@29:6 INPUT_DOES_NOT_DRIVE:rows@37:11?", why: "Without the rows of before a row that leaves a group still counts there."}
-- - {from: "s.g IS NULL AS", to: "false AS", expect: "inexact GROUP_MAY_VANISH@33:6", why: "A group that is empty stays."}
-- - {from: "s.g IS NULL AS", to: "s.total IS NULL AS", expect: "exact", why: "Null where nothing was found; where a sum of rows is null the recompute marks its row, too."}
-- - {from: "s.g IS NULL AS", to: "s.n IS NULL AS", expect: "exact", why: "A count is null only where nothing was found."}
-- - {from: "<SRC_INSTANT> AS at", to: "coalesce(s.m, 0) AS at", expect: "inexact ORDERING_MAY_GO_BACK:at@33:6", why: "The newest row of a group may go."}
-- - {from: "LEFT JOIN sums s ON s.g = t.g AND s.day = t.day", to: "LEFT JOIN sums s ON s.g = t.g", expect: "inexact GROUP_MAY_VANISH@33:6 FAN_OUT:rows@41:11? GROUP_IN_PART:rows@41:11? INPUT_DOES_NOT_DRIVE:rows@41:11 PARTITIONS_IN_PART:rows@41:11?", why: "Sums of other days of the group."}
-- - {from: "LEFT JOIN sums s", to: "JOIN sums s", expect: "inexact GROUP_MAY_VANISH@33:6 INNER_JOIN_DROPS:rows@41:6", why: "A group of which nothing is left is not in the result."}
-- - {from: "GROUP BY r.g, r.day", to: "GROUP BY r.g", expect: "inexact GROUP_MAY_VANISH@33:6 GROUP_IN_PART:rows@37:12? PARTITIONS_IN_PART:rows@37:12? GROUP_IN_PART:rows@41:11? INPUT_DOES_NOT_DRIVE:rows@41:11 PARTITIONS_IN_PART:rows@41:11?", why: "Only the days that were read are in the sum.", model: false}
-- - {from: "FROM rows r\n", to: "FROM rows r\nCROSS JOIN (SELECT 1) o\n", expect: "exact", why: "One constant row changes nothing."}
-- - {from: "SELECT g, day FROM changed\n", to: "SELECT g, day FROM changed WHERE day = 1\n", expect: "inexact GROUP_MAY_VANISH@26:8?", why: "The rows of before name groups of other days, which a recompute does not."}
CACHE TABLE changed AS
SELECT id, g, day FROM <SRC>;

CACHE TABLE touched AS
SELECT g, day FROM changed
UNION
SELECT b.g, b.day
FROM before b
LEFT SEMI JOIN changed c ON c.id = b.id
;

WITH sums AS (
  SELECT r.g, r.day, count(*) AS n, sum(r.v) AS total, max(r.updated_at) AS m
  FROM rows r
  LEFT SEMI JOIN touched t ON t.g = r.g AND t.day = r.day
  GROUP BY r.g, r.day
)
SELECT t.g, t.day, coalesce(s.n, 0) AS n, s.total, <SRC_INSTANT> AS at, s.g IS NULL AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.g = t.g AND s.day = t.day
