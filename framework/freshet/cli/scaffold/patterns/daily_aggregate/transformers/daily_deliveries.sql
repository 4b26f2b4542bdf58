-- Touched groups: every store and day that a changed delivery is in now, or was in before. To add differences to the old sums
-- would read less, and be wrong for ever after one repeated run.
-- Cached, because they are read twice, and because Spark sends what it knows to be small to the other rows.
CACHE TABLE changed AS
SELECT delivery_id, store_id, day FROM <SRC>;

CACHE TABLE touched AS
SELECT store_id, day FROM changed
UNION
SELECT b.store_id, b.day
FROM before b
LEFT SEMI JOIN changed c ON c.delivery_id = b.delivery_id;

WITH sums AS (
  SELECT d.store_id,
         d.day,
         count(*)       AS deliveries,
         sum(d.parcels) AS parcels,
         sum(d.fee)     AS fees
  FROM deliveries d
  LEFT SEMI JOIN touched t ON t.store_id = d.store_id AND t.day = d.day
  GROUP BY d.store_id, d.day
)

SELECT t.store_id,
       t.day,
       coalesce(s.deliveries, 0L)                 AS deliveries,
       cast(coalesce(s.parcels, 0) AS bigint)     AS parcels,
       cast(coalesce(s.fees, 0) AS decimal(14,2)) AS fees,
       -- not the deliveries' own updated_at: when the newest of a group is deleted it would go back, and the older sum would win
       <SRC_INSTANT>                              AS computed_upto,
       -- a group of which nothing is left has to be deleted: no row would leave the old sum standing
       s.store_id IS NULL                         AS _hoodie_is_deleted
FROM touched t
LEFT JOIN sums s ON s.store_id = t.store_id AND s.day = t.day
