-- The partition column is not part of the key: a ticket is the same one wherever it lies.
CREATE TABLE derived.team_tickets (
  ticket_id  STRING NOT NULL COMMENT 'record key',
  priority   INT COMMENT '1 is urgent',
  opened_at  TIMESTAMP,
  updated_at TIMESTAMP NOT NULL COMMENT 'ordering field: an older change loses, in whatever partition the newer row stands',
  _hoodie_is_deleted BOOLEAN COMMENT 'true takes the ticket out, wherever it lies',
  team       STRING NOT NULL
)
USING hudi
PARTITIONED BY (team)
TBLPROPERTIES (primaryKey = 'ticket_id', preCombineField = 'updated_at', type = 'cow');
