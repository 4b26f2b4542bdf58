-- Late tips reach back to any day: with many rows a day MERGE_ON_READ writes them for less, and owes a compaction.
CREATE TABLE derived.ride_income (
  ride_id       STRING NOT NULL,
  driver_id     STRING NOT NULL,
  fare          DECIMAL(12,2) NOT NULL,
  tips          DECIMAL(12,2) NOT NULL COMMENT '0 where there is none',
  tip_count     BIGINT NOT NULL,
  income        DECIMAL(12,2) NOT NULL,
  computed_upto BIGINT NOT NULL COMMENT 'ordering field: completion time of the last commit of the rides that was read',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the row out: the ride was deleted, whatever tips it has',
  day           STRING NOT NULL COMMENT 'UTC day on which the ride began, yyyy-MM-dd'
)
USING hudi
PARTITIONED BY (day)
TBLPROPERTIES (primaryKey = 'ride_id', preCombineField = 'computed_upto', type = 'cow');
