-- A trip always gives the same four lines, those of amount 0 too: a tip that comes later then overwrites its line, and
-- no line can be left behind that a full recompute would not make.
WITH lines AS (
  SELECT e.trip_id, e.driver_id, e.city_id, e.updated_at, e._hoodie_is_deleted, e.datestr,
         stack(4,
           'fare',         cast(e.fare_amount AS decimal(12,2)),   'income',
           'toll',         cast(e.toll_amount AS decimal(12,2)),   'exempt',
           'tip',          cast(e.tip_amount AS decimal(12,2)),    'income',
           'platform_fee', cast(-e.platform_fee AS decimal(12,2)), 'expense'
         ) AS (line, amount, tax_category)
  FROM <SRC> e
)

SELECT l.trip_id,
       l.line,
       l.driver_id,
       c.currency,
       l.amount,
       l.tax_category,
       CASE l.tax_category
         WHEN 'exempt' THEN cast(0 AS decimal(12,2))
         -- the tax on an expense is negative: the driver gets it back
         ELSE cast(l.amount * c.tax_rate AS decimal(12,2))
       END AS tax_amount,
       l.updated_at,
       l._hoodie_is_deleted,
       l.datestr
FROM lines l
LEFT JOIN cities c ON c.city_id = l.city_id
