-- operation: insert_overwrite
-- source: id* g v day/ updated_at^
-- inputs: {rows: {of: SRC, on: {day: day}}}
-- target: g* day*/ n updated_at^
-- expect: "inexact PARTITION_MAY_EMPTY@11:8"
-- why: "A partition of which nothing is left is not replaced."
-- pairs:
-- - {set: {accepts: [{code: PARTITION_MAY_EMPTY}]}, expect: "exact_if PARTITION_MAY_EMPTY@11:8", why: "The author says that no day is ever emptied."}
-- - {from: "FROM rows", to: "FROM <SRC>", expect: "inexact GROUP_IN_PART:SRC@13:10", why: "The rows of the day that did not change are lost."}
-- - {set: {target: g*/ day* n updated_at^}, expect: "inexact OVERWRITES_WITH_PART@11:8", why: "The target's partitions are not those that were read."}
SELECT g, day, count(*) AS n, max(updated_at) AS updated_at
FROM rows
GROUP BY g, day
