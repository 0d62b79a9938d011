"""Take the screenshots for the README: the dashboard in Chromium, with the made-up history of tools/season.py.

python3 dev.py pictures [FOLDER]   writes to docs/pictures by default; takes a few minutes
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from engram import Engram
from tests.browser.site import Site, launched
from tools import browser, season

WEEKS = 40
SIZE, SCALE = {"width": 1240, "height": 780}, 1.5
PICTURES = Path(__file__).parent.parent / "docs" / "pictures"


def take(home: Path, chromium: Any, folder: Path) -> None:
    """Take all screenshots of an Engram home."""
    site = Site(home, chromium)
    with site.engram() as engram:
        season.working(engram)
        shots = pages(engram)
    for name, (path, dark, prepare) in shots.items():
        tab = site.open(path, viewport=SIZE, dark=dark, scale=SCALE)
        tab.wait_for_timeout(1200)
        if prepare:
            tab.evaluate(prepare)
            tab.wait_for_timeout(800)
        tab.screenshot(path=str(folder / f"{name}.png"))
        print(f"{name}.png {(folder / f'{name}.png').stat().st_size // 1000} KB")
    site.close()


def pages(engram: Engram) -> dict[str, tuple[str, bool, str]]:
    """Return the path of each screenshot, whether it uses dark mode, and a script to run first."""
    story = next(hit for hit in engram.recall("family ticket 3 children", 20, flavor="claude") if hit.session_id)
    edit = "document.querySelectorAll('.beat.did summary')[2]?.click()"
    return {
        "now": ("/now", False, ""),
        "session": (f"/sessions/{story.session_id}", False, edit),
        "search": ("/search?q=why+integer+cents", False, ""),
        "wiki": ("/wiki/graph", True, ""),
        "timeline": ("/timeline?days=90&by=project", False, ""),
        "patterns": ("/patterns", False, ""),
        "effect": ("/patterns/catalog", True, ""),
    }


def main(words: list[str]) -> int:
    path = browser.found()
    if path is None:
        print("Chromium not found. Run python3 tools/browser.py to install it.")
        return 1
    folder = Path(words[0]) if words else PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.environ["HOME"] = place  # so that doctor findings are not about this machine
        season.lived_long(Path(place) / "engram", Path(place) / "person", WEEKS)
        with launched(path) as chromium:
            take(Path(place) / "engram", chromium, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
