-- COPY_ON_WRITE: finance and every driver's app read these lines all day, and only two runs an hour write them.
CREATE TABLE derived.payout_lines (
  trip_id      STRING NOT NULL,
  line         STRING NOT NULL COMMENT 'fare, toll, tip or platform_fee; record key together with trip_id',
  driver_id    STRING NOT NULL,
  currency     STRING COMMENT 'ISO 4217',
  amount       DECIMAL(12,2) NOT NULL COMMENT 'negative where the driver pays; 0 where the trip has none',
  tax_category STRING NOT NULL COMMENT 'income, expense or exempt',
  tax_amount   DECIMAL(12,2) COMMENT 'null where the tax rate of the city is not known',
  updated_at   TIMESTAMP NOT NULL COMMENT 'ordering field',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the line out: its trip was deleted',
  datestr      STRING NOT NULL COMMENT 'UTC day of the trip, yyyy-MM-dd'
)
USING hudi
PARTITIONED BY (datestr)
TBLPROPERTIES (
  type = 'cow',
  primaryKey = 'trip_id,line',
  preCombineField = 'updated_at'
);
