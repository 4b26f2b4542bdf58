-- source: id* a day/ updated_at^
-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Of a row that moved the deleted one is left out by the write."
-- pairs:
-- - {from: "SELECT id, a, updated_at, _hoodie_is_deleted", to: "SELECT DISTINCT id, a, updated_at, _hoodie_is_deleted", expect: "exact", why: "Both rows stay."}
-- - {from: "\nFROM <SRC>", to: "\nFROM <SRC>\nQUALIFY row_number() OVER (PARTITION BY id ORDER BY updated_at) = 1", expect: "inexact MOVED_ROW_TWICE:SRC@12:41", why: "The older one is the deleted one."}
-- - {from: "SELECT id, a, updated_at, _hoodie_is_deleted\nFROM <SRC>", to: "SELECT id, min(a) AS a, max(updated_at) AS updated_at, min(_hoodie_is_deleted) AS _hoodie_is_deleted FROM <SRC> GROUP BY id", expect: "inexact MOVED_ROW_TWICE:SRC@10:122", why: "The two rows are put together."}
-- - {set: {source: id* a day*/ updated_at^, target: id* day* a updated_at^ _hoodie_is_deleted}, from: "SELECT id, a, updated_at, _hoodie_is_deleted\nFROM <SRC>", to: "SELECT id, day, min(a) AS a, max(updated_at) AS updated_at, max(_hoodie_is_deleted) AS _hoodie_is_deleted FROM <SRC> GROUP BY id, day", expect: "exact", why: "With the partition in the key no row moves."}
SELECT id, a, updated_at, _hoodie_is_deleted
FROM <SRC>
