"""``python -m freshet`` and the file that spark-submit runs."""

import os
import sys

if __package__ in (None, ""):
    # spark-submit runs this file by its path, so that the package beside it is not importable yet.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from freshet.cli import early

early.watch()

from freshet.cli.main import main  # noqa: E402

main()
