-- Row by row: who the driver is stands in dim_driver, where it may change without a change here.
SELECT s.status_id,
       s.driver_id,
       s.status,
       s.started_at,
       s.ended_at,
       unix_timestamp(s.ended_at) - unix_timestamp(s.started_at) AS seconds,
       s.status <> 'offline'                                     AS is_working,
       s.updated_at,
       s._hoodie_is_deleted,
       s.datestr
FROM <SRC> s
