"""A real Chromium in front of a real server, which runs in a process of its own.

Chromium comes from Debian (tools/browser.py); without it these tests are skipped by name. What a tab complains of is a
failed test.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from tests.browser.site import EMBEDDER, Site, launched
from tools import browser, season

pytest.importorskip("playwright.sync_api", reason="the dashboard is not looked at: playwright is missing")


@pytest.fixture(scope="module")  # no longer: while it runs, this thread can run no loop of its own
def chromium() -> Iterator[Any]:
    """A running browser, or a loud skip."""
    path = browser.found()
    if path is None:
        pytest.skip(
            "the dashboard is not looked at: Chromium is not here (`python3 dev.py check --browser` installs it)"
        )
    with launched(path) as running:
        yield running


@pytest.fixture(scope="session")
def season_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that lived through three weeks; made once, since that takes a while."""
    folder = tmp_path_factory.mktemp("season")
    with Engram(folder / "home", embedder=EMBEDDER) as engram:
        season.lived(engram, folder / "person", 21)
    return folder / "home"


@pytest.fixture
def harbour(season_home: Path, tmp_path: Path, chromium: Any) -> Iterator[Site]:
    """The dashboard of a store that lived through three weeks."""
    shutil.copytree(season_home, tmp_path / "home")
    made = Site(tmp_path / "home", chromium)
    yield made
    made.close()


@pytest.fixture
def site(tmp_path: Path, chromium: Any) -> Iterator[Callable[..., Site]]:
    """Make the dashboard of a home, filled first if told how."""
    made: list[Site] = []

    def make(fill: Callable[[Engram], None] | None = None) -> Site:
        home = tmp_path / "home"
        home.mkdir(mode=0o700, exist_ok=True)
        if fill is not None:
            with Engram(home, embedder=EMBEDDER) as engram:
                fill(engram)
        made.append(Site(home, chromium))
        return made[-1]

    yield make
    for each in made:
        each.close()
