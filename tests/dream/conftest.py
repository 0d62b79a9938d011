"""Stores with a model chosen by the test, without the developer's transcripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.conftest import opened

__all__ = ["opened"]


@pytest.fixture(autouse=True)
def bare_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home directory without agents."""
    home = tmp_path / "person"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home
