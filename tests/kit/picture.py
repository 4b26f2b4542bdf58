"""Pictures of terminals: what a test has on its screen, as an SVG file of the docs."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.kit.screen import Terminal

PICTURES = Path(__file__).parents[2] / "docs" / "screens"


def picture(terminal: Terminal, name: str, home: Path) -> None:
    """Draw what stands on a screen to ``docs/screens/<name>.svg``, where ``FRESHET_SCREENSHOTS=write`` asks for it.

    Args:
        terminal: The terminal.
        name: What is shown.
        home: A folder of this machine; what lies in it is drawn relative to it.
    """
    if os.environ.get("FRESHET_SCREENSHOTS") != "write":
        return
    terminal.settle()
    console = Console(record=True, width=terminal.screen.columns, file=io.StringIO())
    for number in range(len(terminal.shown())):
        line = Text()
        for column in range(terminal.screen.columns):
            one = terminal.screen.buffer[number][column]
            line.append(one.data, Style(color=None if one.fg == "default" else one.fg, bold=one.bold))
        line.rstrip()
        if str(home) in line.plain:
            line = Text(line.plain.replace(f"{home}/", ""))
        console.print(line, no_wrap=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    drawn = console.export_svg(title=f"freshet {name}", unique_id=name)
    # A page of the docs loads nothing from elsewhere; the reader's own fixed font will do.
    (PICTURES / f"{name}.svg").write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL) + "\n", "utf-8")
