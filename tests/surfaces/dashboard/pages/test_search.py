"""The Search page: results as you type, highlights, filters and links."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from engram import Engram
from tests.patterns.writers import Claude
from tests.surfaces.dashboard.looking import Looker


@pytest.fixture
def filled(hub: Engram, tmp_path: Path) -> Engram:
    work = Claude(tmp_path / "person", "one", "/home/mara/harbour")
    work.says("Are prices integer cents or floats?")
    work.answers("We decided: integer cents everywhere, because the tills send cents.")
    for number in range(3):
        work.says(f"And the fee of case {number}, is it in integer cents as well, rounded up as agreed?")
        work.answers("Yes: the fee is in integer cents too, and it is rounded up.")
    work.runs("grep -r 'integer cents' src", "src/fare.py: # integer cents")
    hub.ingest([str(tmp_path / "person")])
    hub.summarize()
    hub.integrate()
    hub.flush()
    hub.index()
    return hub


def hits(page: str) -> list[str]:
    return [unquote(match) for match in re.findall(r'<h2><a href="([^"]+)"', page)]


def test_an_empty_search_box_explains_what_to_ask(looker: Looker) -> None:
    assert "Ask a question" in looker.page("/search")


def test_while_one_types_only_the_hits_come(filled: Engram, looker: Looker) -> None:
    part = looker.page("/search?q=integer+cents", part=True)
    assert "<html" not in part
    assert "<mark>integer</mark> <mark>cents</mark>" in part
    assert "Why it matched" in part


def test_each_hit_leads_to_the_very_place(filled: Engram, looker: Looker) -> None:
    for kind, shape in (
        ("talk", r"/sessions/\S+\?at=e\d+#e\d+"), ("gist", r"/sessions/\S+"), ("era", r"/timeline#\d{4}-\d\d"),
        ("daily", r"/wiki/daily/2026-11-01\S*"), ("work", r"/sessions/\S+\?at=e\d+#e\d+"),
    ):  # fmt: skip
        result = hits(looker.page(f"/search?q=integer+cents&kind={kind}"))
        assert result, kind
        assert all(re.fullmatch(shape, each) for each in result), (kind, result)
        assert looker.get(result[0].partition("#")[0]).status_code == 200


def test_filters_are_kept_to(filled: Engram, looker: Looker) -> None:
    assert hits(looker.page("/search?q=integer+cents&project=/home/mara/harbour"))
    assert not hits(looker.page("/search?q=integer+cents&project=/elsewhere"))
    assert not hits(looker.page("/search?q=integer+cents&flavor=codex"))
    assert not hits(looker.page("/search?q=integer+cents&kind=talk&until=2026-10-01"))


def test_an_invalid_time_is_reported(filled: Engram, looker: Looker) -> None:
    assert looker.get("/search?q=x&since=neverland", part=True).status_code == 400


def test_one_hit_can_be_read_by_itself(filled: Engram, looker: Looker) -> None:
    hit = next(each for each in filled.recall("integer cents", 5, messages=True) if each.tier == "exchange")
    assert "integer cents" in looker.page(f"/search/{hit.id}")
    assert looker.get("/search/x999").status_code == 404
