CREATE TABLE derived.daily_deliveries (
  store_id      STRING NOT NULL,
  day           STRING NOT NULL COMMENT 'yyyy-MM-dd; record key together with store_id',
  deliveries    BIGINT NOT NULL,
  parcels       BIGINT NOT NULL,
  fees          DECIMAL(14,2) NOT NULL,
  computed_upto BIGINT NOT NULL COMMENT 'ordering field: completion time of the last commit of the source that was read',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the row out: the store delivers nothing on this day any more'
)
USING hudi
TBLPROPERTIES (primaryKey = 'store_id,day', preCombineField = 'computed_upto', type = 'cow');
