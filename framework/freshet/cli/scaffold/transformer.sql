-- <SRC> is what changed in the source since the last run. The columns are those of ddl/@NAME@.sql.
SELECT id,
       amount,
       updated_at,
       -- A table that `freshet land` made has it, and any that keeps change data. Of another one, take it out here and there.
       _hoodie_is_deleted,
       datestr
FROM <SRC>
