"""A real browser, driven by a Python that has what it takes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_TOOLS = ("playwright==1.65.2", "axe-playwright-python==0.1.8")
#: Where pictures of what was looked at go to, where somebody wants to see them.
_PICTURES = "FRESHET_PICTURES"
Looked = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def browser() -> tuple[Path, str]:
    """Return a Python that drives a browser, and the machine's Chromium."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on this machine")
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "freshet-tests" / "-".join(_TOOLS)
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_TOOLS]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"Playwright cannot be had here: {done.stderr[-300:]}")
        (folder / "done").touch()
    return python, chromium


@pytest.fixture
def looked_at(browser: tuple[Path, str]) -> Looked:
    """Return a function that looks at pages: at a folder of them, or at an address with a token."""
    python, chromium = browser
    drive = Path(__file__).with_name("drive.py")

    def look(*what: Path | str, is_pictured: bool = True) -> dict[str, Any]:
        pictures = [os.environ[_PICTURES]] if is_pictured and _PICTURES in os.environ else []
        words = [python, drive, chromium, *what, *pictures]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=800)
        assert done.returncode == 0, done.stderr[-3000:]
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return look
