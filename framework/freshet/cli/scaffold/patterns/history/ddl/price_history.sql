-- The price of a day: WHERE valid_from <= day AND (valid_to > day OR valid_to IS NULL).
CREATE TABLE derived.price_history (
  product_id    STRING NOT NULL,
  valid_from    DATE NOT NULL COMMENT 'record key together with product_id: a version stays the same row when its end changes',
  valid_to      DATE COMMENT 'the first day on which it holds no more; null where it holds until further notice',
  price         DECIMAL(12,2) NOT NULL,
  is_current    BOOLEAN NOT NULL COMMENT 'the last version that is known',
  computed_upto BIGINT NOT NULL COMMENT 'ordering field: completion time of the last commit of the source that was read',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the version out: the source deleted it'
)
USING hudi
TBLPROPERTIES (primaryKey = 'product_id,valid_from', preCombineField = 'computed_upto', type = 'cow');
