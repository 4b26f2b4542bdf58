-- MERGE_ON_READ: a few updates reach back to every day. COPY_ON_WRITE would rewrite all files of the table for them.
CREATE TABLE derived.driver_status (
  status_id  STRING NOT NULL COMMENT 'record key',
  driver_id  STRING NOT NULL,
  status     STRING NOT NULL COMMENT 'online, offline or on_trip',
  started_at TIMESTAMP NOT NULL,
  ended_at   TIMESTAMP COMMENT 'null as long as the next status is not known',
  seconds    BIGINT COMMENT 'null as long as the end is not known',
  is_working BOOLEAN NOT NULL COMMENT 'online or on_trip',
  updated_at TIMESTAMP NOT NULL COMMENT 'ordering field: the newer row of a status wins',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the row out: the status was withdrawn',
  datestr    STRING NOT NULL COMMENT 'UTC day of started_at, yyyy-MM-dd'
)
USING hudi
PARTITIONED BY (datestr)
TBLPROPERTIES (
  type = 'mor',
  primaryKey = 'status_id',
  preCombineField = 'updated_at'
);
