"""Reads HTML as a browser does, as far as tests ask: elements with their attributes, texts, and links."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

#: What has no end.
_VOID = frozenset(("meta", "link", "br", "hr", "img", "input", "wbr"))


class Html(HTMLParser):
    """A page: its elements in order, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        self.faults += [f"<{tag}> has {name} twice" for name in set(names) if names.count(name) > 1]
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:] or 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """Return the page's text, blanks folded."""
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of each element of a kind."""
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def ids(self) -> list[str]:
        """Return the ids of its elements."""
        return [attrs["id"] for _, attrs in self.elements if "id" in attrs]


def broken_links(files: Mapping[str, str]) -> Iterator[str]:
    """Yield each link of a site's pages that leads to no page of it, or to no place within one.

    Args:
        files: The text of each file, by its path.
    """
    read = {path: Html(text) for path, text in files.items() if path.endswith(".html")}
    for path, page in read.items():
        for _, attrs in page.elements:
            for link in (attrs[name] for name in ("href", "src") if name in attrs):
                parts = urlsplit(link)
                if parts.scheme == "data":
                    continue
                target = (
                    posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path))) if parts.path else path
                )
                if parts.scheme or parts.netloc or target not in files:
                    yield f"{path}: {link}"
                elif parts.fragment and unquote(parts.fragment) not in read[target].ids:
                    yield f"{path}: {link} names no place"


def faults_of(files: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the pages of a site: links, ids, tags, and what would run or load without being asked to.

    Args:
        files: The text of each file, by its path.
    """
    found = list(broken_links(files))
    for path, text in files.items():
        if not path.endswith(".html"):
            continue
        page = Html(text)
        found += [f"{path}: {fault}" for fault in page.faults]
        found += [f"{path}: the id {one} twice" for one in set(page.ids) if page.ids.count(one) > 1]
        found += [f"{path}: {len(page.all('h1'))} first headings"] * (len(page.all("h1")) != 1)
        for tag, attrs in page.elements:
            found += [f"{path}: <{tag} {name}>" for name in attrs if name.startswith("on") or name == "style"]
            if tag in ("script", "iframe", "object", "embed", "form", "base", "style") and (tag, attrs.get("src", "")[-7:]) != (
                "script",
                "site.js",
            ):
                found.append(f"{path}: <{tag}>")
    return found
