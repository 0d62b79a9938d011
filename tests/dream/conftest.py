"""Stores with a model of the test's choice, and no transcripts of the developer's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.llm.conftest import opened

__all__ = ["opened"]


@pytest.fixture(autouse=True)
def bare_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home directory in which no agent ever worked."""
    home = tmp_path / "person"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home
