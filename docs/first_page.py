"""What MkDocs calls while it makes the site: its first page is the README, and the notebook is a page, too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_NOTEBOOK = "tutorials/notebook.ipynb"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page's text; that of the first page is the README's, whose links begin one folder higher."""
    match page.file.src_uri:
        case "index.md":
            readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8").partition("## Contributing")[0]
            # The site has its pages beside it, and a list of them in the margin.
            return re.sub(r"## Documentation\n.*", "", readme, flags=re.DOTALL).replace("](docs/", "](")
        case "tutorials/notebook.md":
            cells = json.loads((Path(__file__).parent / _NOTEBOOK).read_text("utf-8"))["cells"]
            return "\n\n".join((*map(_as_markdown, cells), "[Download this notebook](notebook.ipynb)"))
        case _:
            return markdown


def _as_markdown(cell: Any) -> str:
    text = "".join(cell["source"])
    return f"```python\n{text}\n```" if cell["cell_type"] == "code" else text
