"""What several writers are told of Hudi's lock: the numbers that must keep their order."""

from __future__ import annotations

from freshet.hudi.options import SEVERAL_WRITERS
from freshet.project.model.limits import DEFAULT_LIMITS


def test_a_lock_expires_after_any_commit_and_before_whoever_waits_for_it_gives_up_or_is_ended() -> None:
    """Giving up, Hudi deletes the file of a living holder; and a run that waits does nothing, so that the watchdog ends it."""
    expires = int(SEVERAL_WRITERS["hoodie.write.lock.filesystem.expire"]) * 60
    retries = int(SEVERAL_WRITERS["hoodie.write.lock.client.num_retries"])
    waits = retries * int(SEVERAL_WRITERS["hoodie.write.lock.client.wait_time_ms_between_retry"]) / 1000
    assert 15 * 60 < expires < waits < DEFAULT_LIMITS.stalled_seconds
