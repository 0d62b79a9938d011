"""Everybody can use it: axe finds nothing serious on any page, light or dark, wide or narrow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.site import PHONE, WIDE, Site
from tools import season

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
PAGES = (
    "/now", "/sessions", "/search?q=integer+cents", "/wiki", "/wiki/graph", "/wiki/lint", "/timeline", "/patterns",
    "/health",
)  # fmt: skip


def serious(tab: Any) -> list[str]:
    """Return what axe holds for serious or worse, in words."""
    found = axe.Axe().run(tab).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize(("viewport", "dark"), [(WIDE, False), (PHONE, True)])
def test_axe_finds_nothing_serious(harbour: Site, viewport: dict[str, int], dark: bool, thorough: bool) -> None:
    with harbour.engram() as engram:
        season.working(engram)
        session = engram.list_sessions()[0].session.id
        page = next(each.target for each in engram.list_pages().pages if each.target.startswith("concepts/"))
        pattern = engram.list_patterns()[0].id
    tab = harbour.open("/now", viewport=viewport, dark=dark)
    found: dict[str, list[str]] = {}
    more = (f"/sessions/{session}", f"/wiki/{page}", f"/wiki/{page}?edit=1", f"/patterns/{pattern}", "/nowhere")
    for path in (*PAGES, *more)[:: 1 if thorough or not dark else 2]:
        tab.goto(harbour.url + path)
        tab.wait_for_timeout(250)
        tab.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true })")
        tab.wait_for_timeout(250)
        while tab.locator(".htmx-request").count():  # what is on its way is drawn pale
            tab.wait_for_timeout(100)
        found |= {path: wrong} if (wrong := serious(tab)) else {}
    assert found == {}


def test_the_page_of_a_stranger_is_for_everybody_too(harbour: Site) -> None:
    tab = harbour.open("/now")
    tab.context.clear_cookies()
    tab.goto(harbour.url + "/sessions")
    assert tab.get_by_text("engram ui").count() >= 1
    assert serious(tab) == []
