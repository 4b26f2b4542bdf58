CREATE TABLE derived.sale_facts (
  sale_id    STRING NOT NULL COMMENT 'record key',
  store_id   STRING NOT NULL,
  city       STRING COMMENT 'null where the store is not known',
  status     STRING,
  amount     DECIMAL(12,2) NOT NULL,
  tax        DECIMAL(12,2) COMMENT 'null where the store is not known',
  sold_at    TIMESTAMP NOT NULL,
  updated_at TIMESTAMP NOT NULL COMMENT 'ordering field: of two rows of one sale the newer wins, in whatever order they arrive',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the row out: the sale was deleted',
  day        STRING NOT NULL COMMENT 'UTC day of sold_at, yyyy-MM-dd'
)
USING hudi
PARTITIONED BY (day)
TBLPROPERTIES (
  type = 'cow',
  primaryKey = 'sale_id',
  preCombineField = 'updated_at',
  -- Whatever reads this table sees its deletes only by change data, and a table has it from its first commit or never.
  'hoodie.table.cdc.enabled' = 'true'
);
