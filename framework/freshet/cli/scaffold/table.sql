CREATE TABLE derived.@TABLE@ (
  id         STRING NOT NULL COMMENT 'record key',
  amount     DECIMAL(10,2),
  updated_at TIMESTAMP NOT NULL COMMENT 'ordering field: of two rows of one id the newer wins',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the row out: it was deleted in the source',
  datestr    STRING NOT NULL COMMENT 'partition, yyyy-MM-dd'
)
USING hudi
PARTITIONED BY (datestr)
TBLPROPERTIES (primaryKey = 'id', preCombineField = 'updated_at', type = 'cow');
