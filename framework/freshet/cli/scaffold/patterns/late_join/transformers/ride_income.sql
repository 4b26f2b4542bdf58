-- <SRC> is the rides that changed, and those of which a tip did. Their tips are added up anew: one that was taken back is gone.
-- Cached, because it is read twice, and because Spark sends what it knows to be small to the tips.
CACHE TABLE rides AS
SELECT * FROM <SRC>;

WITH given AS (
  SELECT t.ride_id,
         sum(t.amount) AS tips,
         count(*)      AS tip_count
  FROM tips t
  LEFT SEMI JOIN rides r ON r.ride_id = t.ride_id
  GROUP BY t.ride_id
)

SELECT r.ride_id,
       r.driver_id,
       cast(r.fare AS decimal(12,2))                             AS fare,
       cast(coalesce(g.tips, 0) AS decimal(12,2))                AS tips,
       coalesce(g.tip_count, 0L)                                 AS tip_count,
       cast(r.fare + coalesce(g.tips, 0) AS decimal(12,2))       AS income,
       -- Neither side's own time: the ride's stays as it is when a tip comes. It is the same again where only tips came, and of two
       -- rows with one ordering value the one that is written later wins.
       <SRC_INSTANT>                                             AS computed_upto,
       r._hoodie_is_deleted,
       date_format(r.started_at, 'yyyy-MM-dd')                   AS day
FROM rides r
LEFT JOIN given g ON g.ride_id = r.ride_id
