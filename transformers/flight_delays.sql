-- Every flight keeps its row: some 52,000 fly with a plane that the register does not know, and some 1,500 leave in an
-- hour without a weather report.
SELECT f.carrier,
       f.flight,
       f.origin,
       f.dest,
       a.name                                       AS airline,
       f.tailnum,
       p.manufacturer,
       p.model,
       cast(f.year - p.built_year AS int)           AS plane_age_years,
       p.seats,
       f.time_hour                                  AS scheduled_hour,
       f.dep_delay,
       f.arr_delay,
       cast(f.dep_delay - f.arr_delay AS int)       AS gained_in_air,
       cast(f.distance * 1.609344 AS decimal(8,1))  AS distance_km,
       f.dep_time IS NULL                           AS cancelled,
       w.wind_speed                                 AS wind_speed_mph,
       w.precip                                     AS precip_in,
       w.visib                                      AS visibility_mi,
       f.landed_at,
       f.flight_date
FROM <SRC> f
LEFT JOIN airlines a ON a.carrier = f.carrier
LEFT JOIN planes p ON p.tailnum = f.tailnum
-- by the absolute hour: the local one comes twice when summer time ends
LEFT JOIN weather w ON w.origin = f.origin AND w.time_hour = f.time_hour
