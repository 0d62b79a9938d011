"""A browser on the pages of a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from tests.surfaces.dashboard.looking import Looker


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Engram]:
    """A served store on SQLite only; test_shared requests all pages on both engines."""
    with Engram(tmp_path / "home", serving=True) as opened:
        yield opened


@pytest.fixture
def looker(hub: Engram) -> Looker:
    return Looker(hub)
