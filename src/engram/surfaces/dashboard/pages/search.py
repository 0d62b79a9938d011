"""The Search page: one search box for all of memory."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode
from weakref import WeakSet

from starlette.responses import Response

from engram.api import Engram
from engram.platform.value import value
from engram.surfaces.dashboard import template_filters
from engram.surfaces.dashboard.background_task import BackgroundTask
from engram.surfaces.dashboard.drawing.markdown import wiki_address
from engram.surfaces.dashboard.layout import PageAddress, PageRequest
from engram.types import Hit

_PAGE_SIZE = 20  # hits per page
_MAX_NEAREST = 5  # hits shown if none is a good match
_MAX_HITS = 100
# The kinds of memory in the filter: label, and the tiers they stand for.
KINDS = {
    "talk": ("Conversations", ("exchange",)), "gist": ("Summaries", ("gist", "digest")), "era": ("Months", ("era",)),
    "article": ("Articles", ("article",)), "daily": ("Daily logs", ("daily",)),
    "note": ("Session notes", ("log", "completion", "world")),
    "self": ("About you", ("profile", "narrative", "guide")), "work": ("Tool calls", ("event",)),
}  # fmt: skip
_FILTERS = ("kind", "project", "flavor", "since", "until")
# Descriptions of the parts of a score; the others are shown by name.
_SCORE_WORDS = {
    "doc": "words in the message", "turn": "words in the turn", "session": "words in the session",
    "meaning": "similar meaning", "sentence": "a sentence matches", "statement": "states the answer",
    "cover": "most words match", "near": "close in meaning", "rare": "rare words match",
    "time": "matches the time", "keywords": "words match",
}  # fmt: skip


@value
class SearchHitRow:
    """A hit with its address and score."""

    hit: Hit
    address: str
    title: str
    why: tuple[tuple[str, float], ...]  # descriptions of its score parts, largest first


def show_search(request: PageRequest) -> Response:
    """Render the search box and the results for its query."""
    query = (request.get_query("q") or "").strip()
    chosen = {name: request.get_query(name) or "" for name in _FILTERS}
    filters = {name: filter_text for name, filter_text in chosen.items() if filter_text}
    limit = min(request.get_number("k", _PAGE_SIZE), _MAX_HITS)
    results = _search_memory(request, query, filters, limit) if query else []
    nearest = not results and bool(query)
    if nearest:
        results = _search_memory(request, query, filters, _MAX_NEAREST, abstain=False)
    more = (
        f"/search?{urlencode({'q': query, **filters, 'k': limit + _PAGE_SIZE})}"
        if len(results) >= limit < _MAX_HITS
        else ""
    )
    facts: dict[str, Any] = {
        "query": query,
        "chosen": chosen,
        "is_filtered": bool(filters),
        "rows": results,
        "more": more,
        "nearest": nearest,
    }
    if request.is_part:
        return request.render("search/_found.html", **facts)
    if not query:
        warm_up(request.engram)
    project_list = request.engram.list_projects()
    flavors = sorted({flavor for project_seen in project_list for flavor in project_seen.flavors})
    projects = template_filters.name_projects(project_list)
    return request.render("search/search.html", **facts, kinds=KINDS, projects=projects, flavors=flavors)


def warm_up(engram: Engram) -> None:
    """Run an empty search in the background, so that the index is loaded before the first query."""
    if engram not in _warmed:
        _warmed.add(engram)
        BackgroundTask(lambda store: store.recall("anything", 1, until="1970-01-02", abstain=False)).start(engram)


def _search_memory(
    request: PageRequest, query: str, chosen: dict[str, str], limit: int, *, abstain: bool = True
) -> list[SearchHitRow]:
    tiers = list(KINDS[chosen["kind"]][1]) if chosen.get("kind") in KINDS else None
    hits = request.engram.recall(
        query, limit, tiers=tiers, project=chosen.get("project"), flavor=chosen.get("flavor"),
        since=chosen.get("since"), until=chosen.get("until"), abstain=abstain,
    )  # fmt: skip
    return [
        SearchHitRow(hit=hit, address=find_hit_address(hit), title=_build_hit_title(hit), why=_explain_score(hit))
        for hit in hits
    ]


def find_hit_address(hit: Hit) -> str:
    """Return the address that shows a hit in its context."""
    session = f"/sessions/{quote(hit.session_id)}" if hit.session_id else ""
    if hit.tier in ("article", "daily") and hit.name:
        target, _, part = hit.name.partition("#")
        return wiki_address(target, part)
    if hit.tier == "era" and hit.name:
        return f"/timeline#{quote(hit.name)}"
    if hit.tier in ("profile", "narrative"):
        return f"/timeline#{hit.tier}"
    if hit.event is not None and session:
        return f"{session}?at=e{hit.event}#e{hit.event}"
    if session:
        return f"{session}#gist" if hit.tier == "gist" else f"{session}#x{hit.exchange}" if hit.exchange else session
    return f"/search/{quote(hit.id)}"


def show_hit(request: PageRequest) -> Response:
    """Render one hit in full with the surrounding messages."""
    return request.render("search/hit.html", around=request.engram.get(request.get_path_part("id"), 4))


def _build_hit_title(hit: Hit) -> str:
    name = (hit.name or "").partition("#")[0]
    if hit.tier == "daily":
        return f"Daily log of {name.rpartition('/')[2]}"
    if hit.tier == "article":
        return hit.summary or name.rpartition("/")[2].replace("-", " ")
    if hit.tier in ("profile", "narrative"):
        return "Your profile" if hit.tier == "profile" else "Current narrative"
    if hit.tier == "world":
        return f"World state of {name}" if name else "World state"
    return name or hit.tier if hit.tier in ("era", "guide") else hit.summary or name or hit.tier


def _explain_score(hit: Hit) -> tuple[tuple[str, float], ...]:
    parts = sorted(hit.why.items(), key=lambda part: -part[1])
    return tuple((_SCORE_WORDS.get(name, name.replace("_", " ")), weight) for name, weight in parts if weight > 0)


_warmed: WeakSet[Engram] = WeakSet()
ADDRESSES = (PageAddress("/search", show_search), PageAddress("/search/{id}", show_hit))
