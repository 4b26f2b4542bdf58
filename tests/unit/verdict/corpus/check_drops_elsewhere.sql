-- source: id* day/ a updated_at^
-- target: id* day/ a updated_at^ _hoodie_is_deleted
-- checks: [{name: far, where: day > 1}]
-- expect: "exact"
-- why: "With a bucket index a row is told by its key and partition: in the day that is dropped nothing was ever published, and of the day that it left the row is deleted."
-- pairs:
--   - set: {checks: [{name: far, where: day > 1 OR a > 1}]}
--     expect: "inexact OLDER_ROW_STAYS:far@1:1"
--     why: "a changes within the day."
SELECT id, day, a, updated_at, _hoodie_is_deleted
FROM <SRC>
