-- format: cdc
-- target: id* a b updated_at^
-- write: {strategy: merge, columns: [a, at], ordering: at}
-- model: false
-- expect: "inexact ORDERING_MAY_GO_BACK:at@13:8"
-- why: "at is not the source's ordering field."
-- pairs:
-- - {from: "b AS at", to: "updated_at AS at", expect: "exact", why: "It is."}
-- - {from: "b AS at", to: "updated_at AS at", set: {write: {when_not_matched: ignore}}, expect: "inexact NOT_MATCHED_IS_LOST@1:1", why: "An update that comes before its row is lost."}
-- - {from: "b AS at", to: "updated_at AS at", set: {write: {strategy: partial_update}}, expect: "inexact KEEPS_OLD_VALUES@1:1", why: "A value that becomes null stays."}
-- - {from: "b AS at", to: "updated_at AS at", set: {write: {strategy: full_outer_join}}, expect: "exact", why: "The same by another way."}
-- - {from: "updated_at, _hoodie_is_deleted", to: "updated_at", expect: "inexact DELETES_STAY:SRC@13:8 ORDERING_MAY_GO_BACK:at@13:8", why: "What the source deletes does not empty the columns."}
SELECT id, a, b AS at, updated_at, _hoodie_is_deleted
FROM <SRC>
