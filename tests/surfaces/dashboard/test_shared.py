"""Every page with a shared store: PostgreSQL gives the same answers as SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from tests.surfaces.dashboard.looking import Looker
from tools import season


def test_every_page_is_drawn_and_writes_over_a_shared_store(store: str, tmp_path: Path) -> None:
    with Engram(store=store, home=str(tmp_path / "home"), embedder="static", serving=True) as hub:
        season.lived(hub, tmp_path / "person", 6)
        ids = season.working(hub)
        looker = Looker(hub)
        session = hub.list_sessions()[0].session.id
        page = next(each.target for each in hub.list_pages().pages if each.target.startswith("concepts/"))
        event = hub.get_events(session, limit=1)[0].id
        for path in (
            "/now", "/sessions?flavor=claude&min_cost=0.01&since=2026-01-01", f"/sessions/{session}?only=failed",
            f"/sessions/{session}?at=e{event}", f"/sessions/{session}/told", f"/sessions/{ids['codex']}",
            "/search?q=integer+cents", "/wiki", f"/wiki/{page}", "/wiki/graph", "/wiki/lint/found", "/timeline",
            "/timeline/spending?days=365&by=project&unit=tokens", "/timeline/dream", "/patterns", "/patterns/catalog",
            "/health", "/health/storage", "/health/doctor", "/health/failures", "/health/check",
        ):  # fmt: skip
            assert looker.page(path), path
        for part in ("board", "locks", "world", "done", "messages", "conflicts"):
            looker.page(f"/now/part/{part}", part=True)
        assert looker.post("/now/message", to=f"one {ids['codex']}", body="hello").status_code == 303
        assert looker.post("/now/world", project="", content="anew", version="1").status_code == 303
        assert looker.post(f"/sessions/{session}/outcome", outcome="failure").status_code == 303
        pattern = hub.list_patterns()
        if pattern:
            form = {"version": "0", "rule": "Use uv.", "fix": "", "scope": "global", "at": "review"}
            assert looker.post(f"/patterns/{pattern[0].id}/approve", False, **form).status_code == 303
            assert "helped" not in looker.post("/patterns/effects", part=True).text


@pytest.fixture(autouse=True)
def _person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
