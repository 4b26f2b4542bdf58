-- inputs: {d: {columns: id* x updated_at^}, d_new: {of: d, drives: {id: a}}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "exact"
-- why: "Names are followed through CTEs and views, upper and lower case."
-- pairs:
-- - {from: "a AS K,", to: "b AS K,", expect: "inexact INPUT_DOES_NOT_DRIVE:d@12:11", why: "K is another column."}
-- - {from: "ID AS DIM", to: "x AS DIM", expect: "inexact FAN_OUT:d@12:11? INPUT_DOES_NOT_DRIVE:d@12:11", why: "DIM is another column of d, which several rows share."}
CREATE OR REPLACE TEMPORARY VIEW small AS SELECT ID AS DIM, `X` FROM D;
WITH s (I, K, U, F) AS (SELECT id, a AS K, updated_at, _hoodie_is_deleted FROM <SRC>)
SELECT S.I AS id, `small`.x, s.u AS updated_at, s.f AS _hoodie_is_deleted
FROM S
LEFT JOIN Small ON SMALL.dim = s.k
