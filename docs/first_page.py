"""What MkDocs calls while it makes the site: its first page is the README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page's text: that of the first page from the README, whose links begin one folder higher."""
    if page.file.src_uri != "index.md":
        return markdown
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8").partition("## Contributing")[0]
    # The site has its pages beside it, and a list of them in the margin.
    return re.sub(r"## Documentation\n.*", "", readme, flags=re.DOTALL).replace("](docs/", "](")
