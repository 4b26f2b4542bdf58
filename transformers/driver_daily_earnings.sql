-- A driver's day that a change touches is summed anew from all of its trips. To add the difference to the old sum would
-- read less, and be wrong for ever after one repeated run.
-- Cached, because it is read twice, and because Spark sends what it knows to be small to the trips, not the trips to it.
CACHE TABLE changed AS
SELECT trip_id, driver_id, datestr FROM <SRC>;

CACHE TABLE touched AS
SELECT driver_id, datestr FROM changed
UNION
SELECT b.driver_id, b.datestr
FROM before b
LEFT SEMI JOIN changed c ON c.trip_id = b.trip_id AND c.datestr = b.datestr;

WITH sums AS (
  SELECT e.driver_id,
         e.datestr,
         count(*)                        AS trips,
         count_if(status = 'completed')  AS completed_trips,
         sum(tip_amount)                 AS tip_amount,
         sum(driver_earnings)            AS earnings,
         min(requested_at)               AS first_trip_at,
         max(requested_at)               AS last_trip_at
  FROM earnings e
  LEFT SEMI JOIN touched t ON t.driver_id = e.driver_id AND t.datestr = e.datestr
  GROUP BY e.driver_id, e.datestr
)

SELECT t.driver_id,
       coalesce(s.trips, 0L)                                AS trips,
       coalesce(s.completed_trips, 0L)                      AS completed_trips,
       cast(coalesce(s.tip_amount, 0) AS decimal(14,2))     AS tip_amount,
       cast(coalesce(s.earnings, 0) AS decimal(14,2))       AS earnings,
       s.first_trip_at,
       s.last_trip_at,
       -- the trips' own updated_at cannot order sums: when the newest trip is deleted, it would go back
       <SRC_INSTANT>                                        AS computed_upto,
       s.driver_id IS NULL                                  AS _hoodie_is_deleted,
       t.datestr
FROM touched t
LEFT JOIN sums s ON s.driver_id = t.driver_id AND s.datestr = t.datestr
