-- target: id* a updated_at^ _hoodie_is_deleted
-- expect: "inexact NOT_DETERMINISTIC:current_timestamp@14:35"
-- why: "The recompute has another time."
-- model: false
-- pairs:
-- - {from: "current_timestamp()", to: "rand()", expect: "inexact NOT_DETERMINISTIC:rand@14:22", why: "A value of chance."}
-- - {from: "current_timestamp()", to: "uuid()", expect: "inexact NOT_DETERMINISTIC:uuid@14:22", why: "A value of chance."}
-- - {from: "current_timestamp()", to: "monotonically_increasing_id()", expect: "inexact NOT_DETERMINISTIC:monotonically_increasing_id@14:45", why: "It follows from how the rows are spread."}
-- - {from: "current_timestamp()", to: "current_date", expect: "inexact NOT_DETERMINISTIC:current_date@14:28", why: "The recompute has another day."}
-- - {from: "current_timestamp()", to: "now()", expect: "inexact NOT_DETERMINISTIC:now@14:21", why: "Another name of the same."}
-- - {from: "current_timestamp()", to: "unix_timestamp()", expect: "inexact NOT_DETERMINISTIC:current_timestamp@14:32", why: "Without an argument it is the present time."}
-- - {from: "current_timestamp()", to: "input_file_name()", expect: "inexact NOT_DETERMINISTIC:input_file_name@14:33", why: "It follows from which file is read."}
-- - {from: "current_timestamp()", to: "unix_timestamp(a)", expect: "exact", why: "With an argument it follows from the row."}
SELECT id, current_timestamp() AS a, updated_at, _hoodie_is_deleted
FROM <SRC>
