"""Take over the project's files when they change, once they are valid; until then those of before are served."""

from __future__ import annotations

from typing import Any

from freshet.errors import FreshetError, SpecError, unforeseen
from freshet.project.load.on_disk import OnDisk, difference, look
from freshet.serve.aside import Aside
from freshet.serve.loading import Loaded, Wanted, load_valid

_EVERY_SECONDS = 2.0


class Reloading:
    """Looks at the files, and loads them anew.

    Args:
        wanted: Which project.
        every_seconds: How often it looks.
    """

    def __init__(self, wanted: Wanted, every_seconds: float = _EVERY_SECONDS) -> None:
        self._wanted = wanted
        self._every = every_seconds
        self._aside: Aside[Loaded | FreshetError] = Aside(0.0)
        self._looked = -every_seconds
        self._before: OnDisk = {}
        self._tried: OnDisk = {}
        #: Why the files as they are now are not served; None where they are.
        self.refused: FreshetError | None = None

    def look(self, loaded: Loaded, steady: float) -> Loaded | FreshetError | None:
        """Return what the files say now, or why it is not taken over; None where nothing is new.

        Args:
            loaded: What is served.
            steady: The time, by the steady clock.
        """
        made = self._aside.take()
        if made is not None:
            self.refused = made if isinstance(made, FreshetError) else None
            if isinstance(made, Loaded):
                # What was saved while they were read differs from it, and is read next.
                self._tried = made.on_disk
            return made
        if steady - self._looked < self._every or not self._aside.is_due(steady):
            return None
        self._looked = steady
        on_disk = look(self._wanted.root, frozenset(loaded.on_disk))
        # Files are saved one after the other, and are read when they have come to rest.
        is_at_rest, self._before = not difference(self._before, on_disk), on_disk
        if is_at_rest and difference(self._tried or loaded.on_disk, on_disk):
            self._aside.do(lambda: self._loaded(loaded), steady)
            self._tried = on_disk
        return None

    def _loaded(self, before: Loaded) -> Loaded | FreshetError:
        try:
            made = load_valid(self._wanted)
            served = {spec.name for spec in before.project.pipelines}
            broken = [problem for name in sorted(served & made.invalid.keys()) for problem in made.invalid[name]]
            if broken:
                raise SpecError(broken)
        except Exception as error:  # whatever it is, what is served goes on
            return unforeseen(error)
        return made

    def shown(self) -> dict[str, Any] | None:
        """Return why the files as they are now are not served, as a JSON-serialisable mapping; None where they are."""
        return None if self.refused is None else self.refused.as_json()
