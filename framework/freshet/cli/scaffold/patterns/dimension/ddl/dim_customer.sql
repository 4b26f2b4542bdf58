-- Without partitions: a customer has none, and every key is looked for in the whole table. A customer whom both systems have
-- deleted, or who has points and no profile yet, is a row without a name: read those of which profile_at is not null.
CREATE TABLE derived.dim_customer (
  customer_id STRING NOT NULL,
  name        STRING,
  city        STRING,
  profile_at  TIMESTAMP COMMENT 'when the profile changed; null where there is none',
  points      BIGINT,
  tier        STRING COMMENT 'blue or gold',
  points_at   TIMESTAMP COMMENT 'when the points changed; null where there are none',
  updated_at  TIMESTAMP NOT NULL COMMENT 'the newest news of the row'
)
USING hudi
TBLPROPERTIES (primaryKey = 'customer_id', preCombineField = 'updated_at', type = 'cow');
