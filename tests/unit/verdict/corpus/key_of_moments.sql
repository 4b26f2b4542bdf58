-- source: id* at*@ a updated_at^
-- target: k* t* a updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "exact"
-- why: "In UTC no two moments have one text: Spark writes a moment with its microseconds."
-- pairs:
-- - {set: {spark: {spark.sql.session.timeZone: Europe/Berlin}}, expect: "inexact KEYS_MAY_COLLIDE:at@19:8?", why: "02:30 of an autumn's night comes twice."}
-- - {set: {spark: {spark.sql.session.timeZone: "+02:00"}}, expect: "exact", why: "As far from UTC in winter as in summer."}
-- - {set: {spark: {spark.sql.session.timeZone: Europe/Berlin}}, from: "cast(at AS string)", to: "unix_micros(at)", expect: "exact", why: "A number that no time zone changes."}
-- - {set: {spark: {spark.sql.session.timeZone: Europe/Berlin}, source: "id* at* a updated_at^"}, expect: "exact", granted: "SRC.no_moments:at", why: "Of the type nobody says; a run looks at the table."}
-- - {set: {source: "id* at* a updated_at^"}, expect: "exact", granted: "", why: "In UTC the type does not matter."}
-- - {from: "cast(at AS string)", to: "to_json(struct(at))", expect: "inexact KEYS_MAY_COLLIDE:at@19:8?", why: "JSON has milliseconds of a moment: two that differ in microseconds are one."}
-- - {from: "cast(at AS string)", to: "to_json(struct(at))", set: {source: "id* at* a updated_at^"}, expect: "exact", granted: "SRC.no_moments:at", why: "Of the type nobody says."}
-- - {from: "cast(at AS string)", to: "to_json(struct(at))", set: {source: "id* at* a updated_at^", typed: true}, expect: "exact", granted: "", why: "It is none."}
-- - {from: "cast(at AS string)", to: "to_json(struct(cast(at AS string) AS at))", expect: "exact", why: "The text of it has them all."}
-- - {from: "cast(at AS string)", to: "cast(struct(at, a) AS string)", expect: "inexact KEYS_MAY_COLLIDE:at@19:8 KEY_MAY_CHANGE:t@19:8", why: "A struct's text does not tell where a field ends."}
-- - {from: "cast(at AS string)", to: "date_format(at, 'yyyy-MM-dd HH:mm')", expect: "inexact KEYS_MAY_COLLIDE:at@19:8", why: "Minutes."}
-- - {from: "SELECT id", to: "SET spark.sql.session.timeZone = Europe/Berlin;\nSELECT id", expect: "inexact KEYS_MAY_COLLIDE:at@20:8?", why: "The SQL sets the time zone."}
SELECT id AS k, cast(at AS string) AS t, a, updated_at, _hoodie_is_deleted
FROM <SRC>
