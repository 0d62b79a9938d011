"""Responses are inert, whatever the store and the address contain."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import httpx

from engram import Engram
from tests.surfaces.dashboard.looking import Looker
from tests.surfaces.dashboard.planting import ALL, NEVER, plant

# Addresses whose end is repeated on the page.
ECHOING = (
    "/sessions?project=", "/sessions/", "/wiki/", "/patterns/", "/nowhere/", "/wiki?words=", "/search?q=",
)  # fmt: skip


class _Parts(HTMLParser):
    """Collects the active parts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.acting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        ours = tag == "script" and dict(attrs).get("src", "").startswith("/static/")  # type: ignore[union-attr]
        if tag in NEVER and not ours:
            self.acting.append(tag)
        self.acting += [name for name, _ in attrs if name.startswith("on") or name in ("style", "srcdoc")]
        for name, said in attrs:
            if name in ("href", "src", "action", "hx-get", "hx-post") and not str(said).startswith(("/", "#", "http")):
                self.acting.append(f"{name}={said}")


def test_whatever_is_stored_or_asked_is_inert_as_it_leaves_the_server(tmp_path: Path, thorough: bool) -> None:
    with Engram(tmp_path / "home", serving=True) as engram:
        found, looker = plant(engram, tmp_path / "person"), Looker(engram)
        paths = [f"/sessions/{session}" for session in found.sessions[:60]] + [f"/wiki/{page}" for page in found.pages]
        paths += ["/timeline", "/patterns", "/health", "/wiki", "/wiki/graph"]
        paths += [
            f"{page}{quote(each, safe='')}"
            for place, page in enumerate(ECHOING)
            for each in (ALL if thorough else ALL[place % 5 :: 5])
        ]
        wrong = {path: parts for path in paths if (parts := _acting(looker.get(path)))}
    assert wrong == {}


def _acting(answer: httpx.Response) -> list[str]:
    assert answer.headers["x-content-type-options"] == "nosniff"
    parts = _Parts()
    if "html" in answer.headers.get("content-type", ""):  # browsers render no other type as a page
        parts.feed(answer.text)
    return parts.acting
