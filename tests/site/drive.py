"""Look at pages as a person does, in a real Chromium: run by a Python that has Playwright, it prints what it found as JSON.

``python drive.py CHROMIUM FOLDER [PICTURES]`` looks at files, ``python drive.py CHROMIUM ADDRESS TOKEN [PICTURES]`` at what a
process serves, and has the pipeline of the page ``pipelines/payments.html`` paused by the buttons of that page.
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
    """Go from the first page to each that can be reached, by a click on the first link to it; returns their addresses."""
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
    return list(seen)


def in_every_way(browser: Any, found: dict[str, Any], addresses: dict[str, str], pictures: Path | None) -> None:
    """Look at pages on a desk and a phone, light and dark, and take pictures of them.

    Args:
        browser: Chromium.
        found: Receives what is wrong.
        addresses: Of the pages, by their names.
        pictures: Where to; None for nowhere.
    """
    for size, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            heard(page, found)
            for name, address in addresses.items():
                looked_at(page, address, found, f"{name} ({size}, {scheme})", by_rules=(size, scheme) != ("phone", "dark"))
                if pictures is not None:
                    page.goto(address)
                    page.screenshot(path=pictures / f"{Path(name).stem}-{size}-{scheme}.png", full_page=True)
            context.close()


def heard(page: Page, found: dict[str, Any]) -> None:
    """Note what a page says and asks for."""
    page.on("console", lambda said: found["console"].append(said.text))
    page.on("pageerror", lambda error: found["console"].append(str(error)))
    page.on("request", lambda asked: found["asked"].append(asked.url))


def of_files(browser: Any, folder: Path, pictures: Path | None) -> dict[str, Any]:
    """Look at all pages of a folder."""
    found: dict[str, Any] = {"console": [], "axe": [], "wide": [], "asked": []}
    index = (folder / "index.html").as_uri()
    files = sorted(folder.rglob("*.html"))
    in_every_way(browser, found, {str(path.relative_to(folder)): path.as_uri() for path in files}, pictures)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    found["clicked"] = [name_of(one) for one in clicked(page, index)]
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
    return found


def of_process(browser: Any, address: str, token: str, pictures: Path | None) -> dict[str, Any]:
    """Look at all pages that a process serves, and use what they offer."""
    found: dict[str, Any] = {"console": [], "axe": [], "wide": [], "asked": []}
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    heard(page, found)
    page.goto(f"{address}/")
    # Before the tables have been looked at there is a page that asks again.
    page.wait_for_selector("body[data-live=on]")
    reached = clicked(page, f"{address}/")
    found["clicked"] = [one.removeprefix(address) for one in reached]
    in_every_way(browser, found, {name_of(one) or "overview.html": one for one in reached}, pictures)
    # Chromium itself notes that a page is not there.
    lost = browser.new_context(viewport={"width": 360, "height": 740}).new_page()
    looked_at(lost, f"{address}/pipelines/{'gone' * 40}.html", found, "a page that there is not", by_rules=True)
    found["missing"] = lost.inner_text("h1")
    if pictures is not None:
        lost.screenshot(path=pictures / "missing-phone-light.png", full_page=True)
    lost.click("text=All pipelines")
    lost.wait_for_url(f"{address}/index.html")
    bare = browser.new_context(java_script_enabled=False).new_page()
    bare.goto(f"{address}/pipelines/payments.html")
    found["bare"] = bare.inner_text("main")
    page.goto(f"{address}/pipelines/payments.html")
    page.fill("#token", f"{token}x")
    page.click("button[data-ask=pause]")
    page.wait_for_function("() => document.getElementById('answer').textContent.includes(':')")
    page.wait_for_function("() => !document.getElementById('answer').textContent.includes('asked')")
    found["refused"] = page.inner_text("#answer")
    page.fill("#token", token)
    page.locator("details > summary").first.click()
    page.focus("button[data-ask=pause]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".badge:has-text('paused')")
    found["answered"] = page.inner_text("#answer")
    found["stays"] = {
        "open": page.locator("details").first.evaluate("(one) => one.open"),
        "focus": page.evaluate("() => document.activeElement.dataset.ask"),
        "token": page.input_value("#token"),
    }
    if pictures is not None:
        page.screenshot(path=pictures / "paused.png", full_page=True)
    page.click("button[data-ask=resume]")
    page.wait_for_selector("main:not(:has(.badge:has-text('paused')))")
    found["stopped"] = refreshed(browser, f"{address}/pipelines/payments.html")
    page.goto(f"{address}/index.html")
    found["kept"] = page.evaluate("() => Object.keys(sessionStorage)")
    # What is wrong with a call stands in the console, too, by the browser itself.
    found["console"] = [said for said in found["console"] if "403" not in said]
    return found


def refreshed(browser: Any, address: str) -> dict[str, Any]:
    """Say whether a page asks for itself, no more when its button has stopped that, and again after a second click."""
    page = browser.new_context().new_page()
    page.clock.install()
    page.goto(address)
    for _ in range(2):
        with page.expect_request_finished():
            page.clock.run_for(60_000)
    page.click("#auto")
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    for _ in range(5):
        page.clock.run_for(60_000)
    stopped = page.inner_text("#auto")
    page.click("#auto")
    with page.expect_request_finished():
        page.clock.run_for(60_000)
    return {"meanwhile": len(asked) - 1, "stopped": stopped, "then": page.inner_text("#auto")}


def name_of(address: str) -> str:
    """Return the file's name of an address."""
    return address.rpartition("/")[2]


if __name__ == "__main__":
    chromium, what, *more = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        if what.startswith("http:"):
            said = of_process(browser, what, more[0], Path(more[1]) if more[1:] else None)
        else:
            said = of_files(browser, Path(what), Path(more[0]) if more else None)
        browser.close()
    print(json.dumps(said))
