-- source: id* boss v updated_at^
-- inputs: {people: {of: SRC}, people_new: {of: SRC, drives: {id: boss}}}
-- target: id* boss_v updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "The boss's row is looked up whole, and brings the people who have it."
-- pairs:
-- - {from: "JOIN people b", to: "JOIN <SRC> b", expect: "inexact GROUP_IN_PART:SRC@12:11", why: "Only the bosses that changed are there."}
-- - {set: {inputs: {people_new: null}}, expect: "inexact INPUT_DOES_NOT_DRIVE:people@12:11", why: "A boss that changes brings nobody."}
-- - {from: "b.id = s.boss", to: "b.id <=> s.boss", expect: "exact", why: "A record key is never null, so that it is the same comparison."}
SELECT s.id, b.v AS boss_v, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN people b ON b.id = s.boss
