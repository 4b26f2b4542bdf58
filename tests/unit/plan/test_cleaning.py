"""No table is cleaned beside its compaction: Hudi 1.0 is reported to delete what it is to read (apache/hudi issue 19290).

Of the kind: every process that cleans while another one plans or carries out a compaction. The members: a backfill beside a
run, a run beside a service that compacts, a service that cleans beside a run that compacts, Hudi's asynchronous cleaning.
"""

from __future__ import annotations

import pytest

from freshet.hudi.options import LEFT_TO_THE_RUNS, compaction_is_left, excludes_runs, writer_options
from tests.kit.memory import a_spec

CLEAN, ARCHIVE, INLINE = "hoodie.clean.automatic", "hoodie.archive.automatic", "hoodie.compact.inline"
MODES = ("NON_BLOCKING_CONCURRENCY_CONTROL", "OPTIMISTIC_CONCURRENCY_CONTROL")


def of(mode: str, table_type: str = "MERGE_ON_READ", **options: str) -> dict[str, str]:
    concurrency = {"hoodie.write.concurrency.mode": mode} if mode else {}
    return writer_options(a_spec(target={"table_type": table_type}, write_options={**concurrency, **options}))


@pytest.mark.parametrize("mode", MODES)
def test_the_runs_leave_cleaning_to_what_compacts(mode: str) -> None:
    left = of(mode, **{INLINE: "false"})
    assert (left[CLEAN], left[ARCHIVE]) == ("false", "false")
    assert CLEAN not in of(mode)
    assert CLEAN not in of(mode, "COPY_ON_WRITE", **{INLINE: "false"})


def test_one_writer_cleans_after_itself() -> None:
    assert CLEAN not in of("", **{INLINE: "false"})
    assert not compaction_is_left(a_spec(target={"table_type": "MERGE_ON_READ"}, write_options={INLINE: "false"}))


def test_a_backfill_cleans_nothing() -> None:
    assert LEFT_TO_THE_RUNS[CLEAN] == LEFT_TO_THE_RUNS[ARCHIVE] == "false"


@pytest.mark.parametrize("mode", MODES)
def test_a_service_cleans_beside_no_run_that_compacts(mode: str) -> None:
    spec = a_spec(target={"table_type": "MERGE_ON_READ"}, write_options={"hoodie.write.concurrency.mode": mode})
    assert excludes_runs(spec, ("clean",))
    assert not excludes_runs(spec, ("archive",))
