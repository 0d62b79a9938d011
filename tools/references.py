"""Write the references below docs/reference from the program itself.

python3 -m tools.references            write them
python3 -m tools.references --check    exit with 1 if one of them is stale
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.reference_pages import commands, http, operations, settings

ROOT = Path(__file__).resolve().parents[1]
DIRECTORY = "docs/reference"


def main(words: list[str]) -> int:
    """Write the pages, or check them."""
    pages = build_pages()
    if "--check" in words:
        stale = [path for path, text in pages.items() if _read_page(path) != text]
        for path in stale:
            print(f"{path} is stale. Run `python3 dev.py docs`.")
        return 1 if stale else 0
    for path, text in pages.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
    print(f"Wrote {len(pages)} pages to {DIRECTORY}.")
    return 0


def build_pages() -> dict[str, str]:
    """Return the text of every page by its path in the repository."""
    builders = {"commands": commands, "operations": operations, "http": http, "settings": settings}
    return {f"{DIRECTORY}/{name}.md": builder.build_page() for name, builder in builders.items()}


def _read_page(path: str) -> str:
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
