SELECT customer_id,
       cast(points AS bigint) AS points,
       tier,
       points_at,
       points_at AS updated_at,
       _hoodie_is_deleted
FROM <SRC>
