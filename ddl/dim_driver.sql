-- MERGE_ON_READ with buckets: the drivers of an increment are spread over all files, which COPY_ON_WRITE would rewrite
-- every time; a row's bucket follows from its key, so nothing is looked up.
CREATE TABLE derived.dim_driver (
  driver_id     STRING NOT NULL,
  name          STRING,
  tier          STRING COMMENT 'blue, gold or platinum',
  city_id       INT,
  first_trip_at TIMESTAMP COMMENT 'null for a driver without a trip',
  last_trip_at  TIMESTAMP,
  active_days   BIGINT NOT NULL COMMENT 'days with a trip',
  trips         BIGINT NOT NULL,
  earnings      DECIMAL(18,2) NOT NULL,
  computed_upto BIGINT NOT NULL COMMENT 'ordering field: completion time of the last commit of the profiles that was read',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the row out: the profile was deleted'
)
USING hudi
TBLPROPERTIES (
  type = 'mor',
  primaryKey = 'driver_id',
  preCombineField = 'computed_upto'
);
