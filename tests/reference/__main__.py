"""Write the pages of docs/reference anew."""

from __future__ import annotations

from tests.reference import FOLDER, pages

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
        print(f"wrote docs/reference/{name}")
