-- <SRC> is what changed in the source since the last run. The columns are those of ddl/@NAME@.sql.
SELECT @SELECT@
FROM <SRC>
