"""The reference part of the docs, made from the code: ``python -m tests.reference`` writes docs/reference anew."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file in docs/reference."""
    from tests.reference.commands import cli_page
    from tests.reference.errors import errors_page
    from tests.reference.keys import yaml_page
    from tests.reference.metrics import metrics_page
    from tests.reference.streamer import streamer_page

    return {
        "cli.md": cli_page(),
        "errors.md": errors_page(),
        "metrics.md": metrics_page(),
        "streamer.md": streamer_page(),
        "yaml.md": yaml_page(),
    }
