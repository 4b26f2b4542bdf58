-- MERGE_ON_READ: a late tip changes a few rows of any old day, and rewriting that day's files for them would be the
-- whole cost of the run. It records its changes, so that whoever reads it hears of deleted trips.
CREATE TABLE derived.trip_earnings (
  trip_id           STRING NOT NULL COMMENT 'the trip; record key',
  driver_id         STRING NOT NULL,
  driver_name       STRING,
  driver_tier       STRING COMMENT 'blue, gold or platinum',
  city_id           INT NOT NULL,
  status            STRING NOT NULL COMMENT 'completed, cancelled or disputed',
  requested_at      TIMESTAMP NOT NULL,
  duration_s        INT COMMENT 'seconds from pick-up to drop-off',
  fare_amount       DECIMAL(10,2) NOT NULL COMMENT 'what the rider paid for the ride, in the currency of the city',
  toll_amount       DECIMAL(10,2) NOT NULL,
  tip_amount        DECIMAL(10,2) NOT NULL COMMENT 'sum of all tips known for the trip',
  tip_count         BIGINT NOT NULL,
  last_tip_at       TIMESTAMP,
  platform_fee      DECIMAL(10,2) NOT NULL,
  driver_earnings   DECIMAL(12,2) NOT NULL COMMENT 'fare + toll + tip - platform fee',
  earnings_per_hour DECIMAL(12,2) COMMENT 'null for a trip without a duration',
  tip_delay_band    STRING NOT NULL COMMENT 'none, same_day or late',
  updated_at        TIMESTAMP NOT NULL COMMENT 'ordering field: the newer row of a trip wins',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the row out: its trip was deleted',
  datestr           STRING NOT NULL COMMENT 'UTC day of requested_at, yyyy-MM-dd'
)
USING hudi
PARTITIONED BY (datestr)
TBLPROPERTIES (
  type = 'mor',
  primaryKey = 'trip_id',
  preCombineField = 'updated_at',
  'hoodie.table.cdc.enabled' = 'true'
);
