-- One row per changed trip. No trip is filtered out: one that was completed yesterday and is disputed today has to
-- overwrite its old row, which a WHERE on the status would leave standing.
WITH tips AS (
  SELECT trip_id,
         cast(sum(amount) AS decimal(10,2)) AS tip_amount,
         count(*)                           AS tip_count,
         max(tipped_at)                     AS last_tip_at
  FROM courier_tips
  GROUP BY trip_id
),

priced AS (
  SELECT t.*,
         -- the fee is on the fare alone: tolls and tips are the driver's
         cast(t.fare_amount * {{ var.platform_fee_percent }} / 100 AS decimal(10,2)) AS platform_fee
  FROM <SRC> t
)

SELECT p.trip_id,
       p.driver_id,
       d.name AS driver_name,
       d.tier AS driver_tier,
       p.city_id,
       p.status,
       p.requested_at,
       p.duration_s,
       p.fare_amount,
       p.toll_amount,
       coalesce(tips.tip_amount, cast(0 AS decimal(10,2))) AS tip_amount,
       coalesce(tips.tip_count, 0L)                        AS tip_count,
       tips.last_tip_at,
       p.platform_fee,
       cast(p.fare_amount + p.toll_amount + coalesce(tips.tip_amount, 0) - p.platform_fee
            AS decimal(12,2))                              AS driver_earnings,
       p.updated_at,
       p._hoodie_is_deleted,
       p.datestr
FROM priced p
LEFT JOIN tips ON tips.trip_id = p.trip_id
LEFT JOIN drivers d ON d.driver_id = p.driver_id
