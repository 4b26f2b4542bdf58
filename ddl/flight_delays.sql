-- COPY_ON_WRITE: one landing a day, read by dashboards ever after.
-- The key holds the partition column, so a row cannot move and a bucket index is safe. No carrier uses a flight number
-- twice from one airport on one day; without the airport 24 of the 336,776 flights of 2013 would be lost.
CREATE TABLE derived.flight_delays (
  carrier         STRING NOT NULL COMMENT 'IATA code',
  flight          INT NOT NULL,
  origin          STRING NOT NULL COMMENT 'EWR, JFK or LGA',
  dest            STRING NOT NULL,
  airline         STRING,
  tailnum         STRING,
  manufacturer    STRING,
  model           STRING,
  plane_age_years INT,
  seats           INT,
  scheduled_hour  TIMESTAMP NOT NULL COMMENT 'hour of the scheduled departure',
  dep_delay       INT COMMENT 'minutes; null for a cancelled flight',
  arr_delay       INT COMMENT 'minutes; null for a cancelled or diverted flight',
  gained_in_air   INT COMMENT 'minutes made up between departure and arrival',
  distance_km     DECIMAL(8,1) NOT NULL,
  cancelled       BOOLEAN NOT NULL,
  wind_speed_mph  DOUBLE,
  precip_in       DOUBLE COMMENT 'inches in the hour of the scheduled departure',
  visibility_mi   DOUBLE,
  delay_band      STRING NOT NULL COMMENT 'early, on_time, late, very_late, cancelled or diverted',
  landed_at       TIMESTAMP NOT NULL COMMENT 'ordering field: a correction is landed later',
  flight_date     STRING NOT NULL COMMENT 'local day of the scheduled departure, yyyy-MM-dd'
)
USING hudi
PARTITIONED BY (flight_date)
TBLPROPERTIES (
  type = 'cow',
  primaryKey = 'flight_date,carrier,flight,origin',
  preCombineField = 'landed_at'
);
