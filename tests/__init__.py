"""The tests; CONTRIBUTING says what is tested where."""

import pytest

# Its assertions are part of the tests: what they compare is shown where they fail.
pytest.register_assert_rewrite("tests.kit.cells", "tests.kit.commands", "tests.kit.hbase", "tests.kit.lake")
