-- Cached, because it is read twice, and because Spark sends what it knows to be small to the prices.
CACHE TABLE changed AS
SELECT product_id, valid_from, price, _hoodie_is_deleted FROM <SRC>;

-- Of a product that changed all versions are written anew: of each the end follows from the next one.
SELECT p.product_id,
       p.valid_from,
       lead(p.valid_from) OVER versions         AS valid_to,
       cast(p.price AS decimal(12,2))           AS price,
       lead(p.valid_from) OVER versions IS NULL AS is_current,
       <SRC_INSTANT>                            AS computed_upto,
       false                                    AS _hoodie_is_deleted
FROM prices p
LEFT SEMI JOIN changed c ON c.product_id = p.product_id
WINDOW versions AS (PARTITION BY p.product_id ORDER BY p.valid_from)

UNION ALL

-- And a version that is gone is taken out: no row would leave it standing.
SELECT c.product_id,
       c.valid_from,
       cast(NULL AS date)                       AS valid_to,
       cast(c.price AS decimal(12,2))           AS price,
       false                                    AS is_current,
       <SRC_INSTANT>                            AS computed_upto,
       true                                     AS _hoodie_is_deleted
FROM changed c
LEFT ANTI JOIN prices p ON p.product_id = c.product_id AND p.valid_from = c.valid_from
WHERE c._hoodie_is_deleted
