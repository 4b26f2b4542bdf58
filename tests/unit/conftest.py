"""What every unit test stands on: a cache of the test run's own, which all its tests share as a machine's commands do."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.secrets import REDACTOR

# A run of ten seconds makes no garbage worth looking for, and the looking takes a tenth of them.
gc.disable()


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FRESHET_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _no_secret_of_another_test() -> Iterator[None]:
    """Forget what a test has made a secret: in the next one it may be a word like others."""
    yield
    REDACTOR.__init__()  # type: ignore[misc]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """End a unit test that does not end by itself."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.timeout(120))
