-- A row for each row of <SRC>, with LEFT JOIN and without WHERE: what was published once is corrected only by what is
-- published again. A sale that a filter left out from now on would stand in the target as it was.
SELECT s.sale_id,
       s.store_id,
       st.city,
       s.status,
       cast(s.amount AS decimal(12,2))                          AS amount,
       cast(s.amount * st.vat_percent / 100 AS decimal(12,2))   AS tax,
       s.sold_at,
       s.updated_at,
       -- deletes arrive as the row that stood there, with true in this column
       s._hoodie_is_deleted,
       date_format(s.sold_at, 'yyyy-MM-dd')                      AS day
FROM <SRC> s
LEFT JOIN stores st ON st.store_id = s.store_id
