-- The totals of a driver who changed are added up anew from all of the driver's days: there is no first trip to find again
-- when the first one is deleted, and no total that one repeated run would spoil.
-- Cached, because it is read twice, and because Spark sends what it knows to be small to the days, not the days to it.
CACHE TABLE drivers AS
SELECT * FROM <SRC>;

WITH totals AS (
  SELECT d.driver_id,
         min(d.first_trip_at) AS first_trip_at,
         max(d.last_trip_at)  AS last_trip_at,
         count(*)             AS active_days,
         sum(d.trips)         AS trips,
         sum(d.earnings)      AS earnings
  FROM days d
  LEFT SEMI JOIN drivers p ON p.driver_id = d.driver_id
  GROUP BY d.driver_id
)

SELECT p.driver_id,
       p.name,
       p.tier,
       p.city_id,
       t.first_trip_at,
       t.last_trip_at,
       coalesce(t.active_days, 0L)                    AS active_days,
       coalesce(t.trips, 0L)                          AS trips,
       cast(coalesce(t.earnings, 0) AS decimal(18,2)) AS earnings,
       -- stays where only a day changed: of two rows with one ordering value the later written wins
       <SRC_INSTANT>                                  AS computed_upto,
       p._hoodie_is_deleted
FROM drivers p
LEFT JOIN totals t ON t.driver_id = p.driver_id
