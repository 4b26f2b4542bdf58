"""Look at pages as a person does, in a real Chromium: run by a Python that has Playwright, it prints what it found as JSON.

``python drive.py FOLDER CHROMIUM [PICTURES]``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-not-found]
from playwright.sync_api import Page, sync_playwright  # type: ignore[import-not-found]

SIZES = {"desktop": (1280, 900), "phone": (360, 740)}
# What the keyboard is on: its name, and whether the page shows that it is there.
_FOCUS = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const drawn = one.querySelector ? one.querySelector(".box") : null;
  const seen = style.outlineStyle !== "none" || (drawn && getComputedStyle(drawn).strokeWidth === "4px");
  const name = one.getAttribute("aria-label") || one.textContent.trim() || one.id;
  return {tag: one.tagName.toLowerCase(), name: name.slice(0, 60), href: one.getAttribute("href") || "", seen: Boolean(seen)};
}"""
_WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"


def looked_at(page: Page, address: str, found: dict[str, Any], name: str, by_rules: bool) -> None:
    """Open a page and note what is wrong with it; axe's rules take a second a page."""
    page.goto(address)
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    # Without reading the style sheet once more by a request, which the page forbids.
    for violation in Axe().run(page, options={"preload": False}).response["violations"] if by_rules else ():
        nodes = [node["html"][:160] for node in violation["nodes"][:3]]
        found["axe"].append(f"{name}: {violation['id']}: {violation['help']}: {nodes}")
    wide, window = page.evaluate(_WIDTHS)
    if wide > window:
        found["wide"].append(f"{name}: {wide} in {window}")


def through(page: Page, address: str, most: int = 400) -> list[dict[str, Any]]:
    """Return what the tabulator key comes by on a page, until it leaves it."""
    page.goto(address)
    stops = []
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = page.evaluate(_FOCUS)
        if stop["tag"] == "body":
            break
        stops.append(stop)
    return stops


def clicked(page: Page, address: str) -> list[str]:
    """Go from the first page to each that can be reached, by a click on the first link to it; returns their names."""
    seen, waiting = dict[str, None](), [address]
    while waiting:
        here = waiting.pop()
        page.goto(here)
        seen[here] = None
        for link in page.evaluate("() => [...document.querySelectorAll('a')].map((one) => one.getAttribute('href'))"):
            there = urljoin(here, link).partition("#")[0]
            if there in seen or there in waiting:
                continue
            page.goto(here)
            page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            page.locator(f'a[href="{link}"]').first.click()
            assert page.url.partition("#")[0] == there, f"{link} of {here} leads to {page.url}"
            waiting.append(there)
    return [one.rpartition("/")[2] for one in seen]


def main(folder: Path, chromium: str, pictures: Path | None) -> dict[str, Any]:
    """Look at all pages of a folder."""
    found: dict[str, Any] = {"console": [], "axe": [], "wide": [], "asked": []}
    index = (folder / "index.html").as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for size, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                page = context.new_page()
                page.on("console", lambda said: found["console"].append(said.text))
                page.on("pageerror", lambda error: found["console"].append(str(error)))
                page.on("request", lambda asked: found["asked"].append(asked.url))
                for path in sorted(folder.rglob("*.html")):
                    name = f"{path.relative_to(folder)} ({size}, {scheme})"
                    looked_at(page, path.as_uri(), found, name, by_rules=(size, scheme) != ("phone", "dark"))
                    if pictures is not None:
                        page.goto(path.as_uri())
                        page.screenshot(path=pictures / f"{path.stem}-{size}-{scheme}.png", full_page=True)
                context.close()
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        found["clicked"] = clicked(page, index)
        found["keyboard"] = {path: through(page, (folder / path).as_uri()) for path in ("index.html", "dag.html")}
        page.goto(index)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        found["skipped"] = page.evaluate(_FOCUS)
        bare = browser.new_context(java_script_enabled=False).new_page()
        bare.goto(index)
        found["bare"] = bare.inner_text("main")
        page.goto(index)
        if page.locator("#wanted").is_visible():
            page.fill("#wanted", "second")
            found["filtered"] = [one.inner_text() for one in page.locator(".pipelines > li:visible h3").all()]
        browser.close()
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]) if sys.argv[3:] else None)))
