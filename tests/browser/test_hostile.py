"""Transcripts are hostile: two hundred payloads in every field that anything shows, and none of them acts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from tests.browser.site import EMBEDDER, Site
from tests.surfaces.dashboard.planting import NEVER, Planted, plant

# Our own script gives a stretch its height.
_ACTING = """[...document.querySelectorAll('main *:not(.stretch)')].flatMap((each) => each.getAttributeNames())
  .filter((name) => /^on|^style$|^srcdoc$/i.test(name))"""
_LINKS = """[...document.querySelectorAll('main [href]')].map((each) => each.getAttribute('href'))
  .filter((href) => !/^(https?:|[/#?])/i.test(href))"""
_WATCH = """
window.ran = [];
window.hit = (number) => window.ran.push(number);
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Planted]:
    folder = tmp_path_factory.mktemp("hostile")
    with Engram(folder / "home", embedder=EMBEDDER) as engram:
        return folder, plant(engram, folder / "person")


def test_no_payload_runs_and_nothing_is_fetched_from_anywhere(
    planted: tuple[Path, Planted], chromium: Any, thorough: bool
) -> None:
    folder, found = planted
    site = Site(folder / "home", chromium)
    tab = site.open("/now")
    tab.context.add_init_script(_WATCH)
    long = [each for each in found.sessions if _events(site, each) > 1000]
    assert len(long) == 2
    pages = [
        "/now", "/sessions", "/search?q=script", "/search?q=onerror&kind=work", "/search?q=javascript&kind=article",
        "/wiki", "/wiki/graph", "/wiki/lint", "/timeline", "/patterns", "/patterns?state=all", "/health",
        "/sessions/remembered", *(f"/wiki/{each}" for each in found.pages[::25]),
    ]  # fmt: skip
    for path in pages:
        tab.goto(site.url + path)
        _settle(tab)
        _harmless(tab, path)
    for path in (f"/sessions/{long[0]}", f"/sessions/{long[0]}?only=failed"):
        tab.goto(site.url + path)
        _read_all(tab, unfolded=1 if thorough else 2)
        _harmless(tab, path)
    site.close()


def _events(site: Site, session: str) -> int:
    with site.engram() as engram:
        return engram.get_capture(session).events if session != "remembered" else 0


def _settle(tab: Any) -> None:
    """Let everything happen that a page does by itself, then open all that is folded and press what has a key."""
    tab.wait_for_timeout(150)
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    tab.evaluate("document.querySelectorAll('[data-item] a').forEach((each) => { each.focus() })")
    tab.wait_for_timeout(250)


def _read_all(tab: Any, unfolded: int) -> None:
    """Scroll through a transcript, stretch by stretch, and open everything in every so many of them."""
    stretches = tab.locator(".stretch").count()
    for place in range(stretches):
        tab.locator(".stretch").nth(place).scroll_into_view_if_needed()
        tab.locator(f".stretch:nth-of-type({place + 1})[data-state=here]").wait_for(state="attached")
        if place % unfolded:
            continue
        tab.evaluate(
            f"document.querySelectorAll('.stretch')[{place}].querySelectorAll('details')"
            ".forEach((each) => { each.open = true })"
        )
        tab.wait_for_timeout(60)
    tab.wait_for_timeout(1500)


def _harmless(tab: Any, path: str) -> None:
    assert tab.evaluate("window.ran") == [], path
    names = ", ".join(f"main {name}" for name in NEVER)
    assert tab.evaluate(f"[...document.querySelectorAll('{names}')].map((each) => each.outerHTML)") == [], path
    assert tab.evaluate(_ACTING) == [], path
    assert tab.evaluate(_LINKS) == [], path
