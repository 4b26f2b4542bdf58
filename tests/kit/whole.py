"""Whether all of each product of cases runs, and freshet's own defaults are used: as `make nightly` does."""

from __future__ import annotations

import os

WHOLE = os.environ.get("FRESHET_FULL") == "1"
