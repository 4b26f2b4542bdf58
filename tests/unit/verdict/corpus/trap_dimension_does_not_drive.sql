-- inputs: {d: {columns: id* x updated_at^}}
-- target: id* x updated_at^ _hoodie_is_deleted
-- expect: "inexact INPUT_DOES_NOT_DRIVE:d@15:11"
-- why: "Another x of d reaches no row that was published."
-- pairs:
-- - {set: {inputs: {d_new: {of: d, drives: {id: a}}}}, expect: "exact", why: "Every change of d brings the rows that name it."}
-- - {set: {inputs: {d_new: {of: d, drives: {id: b}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@15:11", why: "It brings the rows that name it by another column."}
-- - {set: {inputs: {d_new: {of: d, drives: {x: a}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@15:11", why: "It brings rows by another column of d."}
-- - {set: {inputs: {d_new: {columns: id* x updated_at^, drives: {id: a}}}}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@15:11", why: "Another table drives."}
-- - {set: {accepts: [{code: INPUT_DOES_NOT_DRIVE, of: d}]}, expect: "exact_if INPUT_DOES_NOT_DRIVE:d@15:11", why: "The author says so."}
-- - {set: {accepts: [{code: INPUT_DOES_NOT_DRIVE, of: e}]}, expect: "inexact INPUT_DOES_NOT_DRIVE:d@15:11", why: "The author says so of another input."}
-- - {set: {accepts: [{code: INPUT_DOES_NOT_DRIVE}]}, expect: "exact_if INPUT_DOES_NOT_DRIVE:d@15:11", why: "The author says so of all inputs."}
SELECT s.id, d.x, s.updated_at, s._hoodie_is_deleted
FROM <SRC> s
LEFT JOIN d ON d.id = s.a
