-- A row for each row of <SRC>, with LEFT JOIN and without WHERE: what was published once is corrected only by what is
-- published again. An order that a filter left out from now on would stand in the target as it was.
SELECT o.order_id,
       o.store_id,
       s.city,
       o.status,
       cast(o.amount AS decimal(12,2))                         AS amount,
       cast(o.amount * s.vat_percent / 100 AS decimal(12,2))   AS tax,
       o.ordered_at,
       o.updated_at,
       -- deletes arrive as the row that stood there, with true in this column
       o._hoodie_is_deleted,
       date_format(o.ordered_at, 'yyyy-MM-dd')                 AS day
FROM <SRC> o
LEFT JOIN stores s ON s.store_id = o.store_id
