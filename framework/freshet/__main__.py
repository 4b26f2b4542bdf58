"""``python -m freshet``."""

from freshet.cli import early

early.watch()

from freshet.cli.main import main  # noqa: E402

main()
