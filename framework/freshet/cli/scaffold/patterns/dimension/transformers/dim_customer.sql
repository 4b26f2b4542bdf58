-- The key, the columns that this pipeline owns, and the table's ordering field; no other column of the target is touched.
SELECT customer_id,
       name,
       city,
       profile_at,
       profile_at AS updated_at,
       -- true: these columns become null
       _hoodie_is_deleted
FROM <SRC>
