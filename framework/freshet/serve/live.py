"""The pages of what is served, as of now: the tables are looked at beside the loop, and no request waits for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from freshet import __version__
from freshet.errors import unforeseen
from freshet.secrets import redact
from freshet.serve.aside import Aside
from freshet.serve.loading import Loaded, Wanted
from freshet.site.facts import LogLine, ProjectFacts
from freshet.site.gather import facts_of, names_of, slugs_of
from freshet.site.live_facts import Live
from freshet.site.load import Loaded as Apart
from freshet.site.pages import ASSETS, asset, first_page, missing_page, page

_EVERY_SECONDS = 15.0
# What has just ended is to be seen soon.
_SOON_SECONDS = 2.0
# Looking takes no more than one part in so many of a processor.
_SHARE = 10.0
# Nobody looks at pages for longer: the next one who does sees these, and new ones a moment later.
_OPEN_SECONDS = 300.0
_ENDINGS = (".yml", ".yaml")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What the pages show, and how long it took to look.

    Args:
        facts: What is known; None where it could not be looked at.
        slugs: The pages' names, by the pipelines' names.
        seconds: How long it took.
        failed: Why it could not be looked at, in words; empty where it could.
    """

    facts: ProjectFacts | None
    slugs: Mapping[str, str]
    seconds: float
    failed: str = ""


class LivePages:
    """Keeps what the pages show.

    Args:
        wanted: Which project is served.
        log: Returns what was told of runs, by the runs' ids.
        rows: So many rows of each quarantine are shown.
    """

    def __init__(self, wanted: Wanted, log: Callable[[], Mapping[str, tuple[LogLine, ...]]] = dict, rows: int = 0) -> None:
        self._wanted, self._log, self._rows = wanted, log, rows
        self._aside: Aside[Kept] = Aside(0.0)
        self._asked: float | None = None
        self._begun, self._runs, self._took = 0.0, -1, 0.0
        self._failed = ""
        self.kept: Kept | None = None

    def look(self, loaded: Loaded, runs: int, steady: float) -> None:
        """Take over what was looked at, and look anew where it is time.

        Args:
            loaded: What is served.
            runs: How many runs have ended.
            steady: The time, by the steady clock.
        """
        made = self._aside.take()
        if made is not None:
            self._failed, self._took = made.failed, made.seconds
            # What was seen before is better than nothing, and says of when it is.
            if made.facts is not None:
                self.kept = made
        if self._is_due(runs, steady):
            self._begun, self._runs = steady, runs
            self._aside.do(lambda: self._looked(loaded), steady)

    def _is_due(self, runs: int, steady: float) -> bool:
        if not self._aside.is_due(steady):
            return False
        if self._asked is None or steady - self._asked > _OPEN_SECONDS:
            return False
        if self._runs < 0:
            return True
        least = _SOON_SECONDS if runs != self._runs else _EVERY_SECONDS
        return steady - self._begun >= max(least, _SHARE * self._took)

    def _looked(self, loaded: Loaded) -> Kept:
        begun = time.monotonic()
        files = {name: _file(self._wanted.root, name) for name in loaded.invalid}
        apart = Apart(project=loaded.project, invalid=loaded.invalid, files=files, problems=())
        slugs = slugs_of(names_of(apart))
        try:
            facts = facts_of(
                apart, self._wanted.load, self._wanted.root, self._wanted.overrides, log=self._log(), rows=self._rows
            )
        except Exception as unknown:  # whatever it is, what is served goes on
            return Kept(facts=None, slugs=slugs, seconds=time.monotonic() - begun, failed=str(unforeseen(unknown)))
        return Kept(facts=facts, slugs=slugs, seconds=time.monotonic() - begun)

    @property
    def failed(self) -> str:
        """Return why the tables could not be looked at the last time, in words; empty where they could."""
        return self._failed

    @property
    def is_looking(self) -> bool:
        """Say whether the tables are being looked at."""
        return self._aside.is_at_work

    def page(self, path: str, env: str, live: Live, steady: float) -> str | None:
        """Return a page, or one that says that there is none yet; None where there is no such page.

        Args:
            path: Such as ``index.html`` or ``pipelines/trip_earnings.html``.
            env: The environment's name.
            live: What the process does at the moment.
            steady: The time, by the steady clock.
        """
        if path in ASSETS:
            return asset(path)
        if not path.endswith(".html"):
            return None
        self._asked, kept = steady, self.kept
        if kept is not None and kept.facts is not None:
            return page(kept.facts, path, live)
        return first_page(self._nothing(env, live), "../" * path.count("/"), live)

    def missing(self, target: str, env: str, live: Live) -> str:
        """Return the page that says that there is no such page.

        Args:
            target: The path and query that were asked for.
            env: The environment's name.
            live: What the process does at the moment.
        """
        facts = self.kept.facts if self.kept is not None else None
        # A browser goes by the path as it was asked for.
        path = redact(target.partition("?")[0])
        return missing_page(facts or self._nothing(env, live), path, "../" * (path.count("/") - 1), live)

    def _nothing(self, env: str, live: Live) -> ProjectFacts:
        root = self._wanted.root
        return ProjectFacts(name=root.name or str(root), env=env, made=live.now, version=__version__)


def _file(root: Path, name: str) -> str:
    found = (f"pipelines/{name}{ending}" for ending in _ENDINGS if (root / f"pipelines/{name}{ending}").exists())
    return next(found, f"pipelines/{name}{_ENDINGS[0]}")
