-- target: id* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "Settings and caches change no row."
SET spark.sql.shuffle.partitions = 8;
CREATE TEMPORARY VIEW v (id, a, updated_at, gone) AS SELECT id, a, updated_at, _hoodie_is_deleted FROM <SRC>;
CACHE TABLE v;
UNCACHE TABLE v;
SELECT id, a, updated_at, gone AS _hoodie_is_deleted FROM v
