"""A hub with a model chosen by the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram

Opened = Callable[..., Engram]
KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def opened(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Open a store on each engine with given settings."""
    monkeypatch.setenv("TEST_KEY", KEY)
    hubs: list[Engram] = []

    def open_one(**choices: Any) -> Engram:
        facts = {"store": store, "home": str(tmp_path / "home"), "model_key_variable": "TEST_KEY", **choices}
        hubs.append(Engram(**facts))
        return hubs[-1]

    yield open_one
    for hub in hubs:
        hub.close()


def calls(hub: Engram) -> list[dict[str, Any]]:
    """Return the ledger, oldest first."""
    return hub.engine.run("select * from model_calls order by id")
