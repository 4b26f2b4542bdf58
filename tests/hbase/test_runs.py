from tests.hbase.lake import HBaseLake
from tests.integration.lake import rows
def test_smoke(hlake: HBaseLake) -> None:
    hlake.pipeline()
    hlake.land(rows(("a", 1, "1"), ("b", 1, "2")))
    hlake.run_ok()
    hlake.agree()
    assert hlake.verify().agrees
