"""The page of search: one box over everything that is remembered."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode
from weakref import WeakSet

from starlette.responses import Response

from engram.api import Engram
from engram.model import Hit
from engram.surfaces.dashboard import words
from engram.surfaces.dashboard.drawing.markdown import wiki_address
from engram.surfaces.dashboard.frame import Address, Ask
from engram.surfaces.dashboard.task import Task
from engram.value import value

_MANY = 20  # hits that are shown at once
_NEAREST = 5  # hits where none answers
_MOST = 100
# What a person calls each kind of memory, and the tiers recall knows it by.
KINDS = {
    "talk": ("Conversations", ("exchange",)), "gist": ("Gists", ("gist", "digest")), "era": ("Eras", ("era",)),
    "article": ("Articles", ("article",)), "daily": ("Daily logs", ("daily",)),
    "note": ("Notes of sessions", ("log", "completion", "world")),
    "self": ("About you", ("profile", "narrative", "guide")), "work": ("Tool calls", ("event",)),
}  # fmt: skip
_FILTERS = ("kind", "project", "flavor", "since", "until")
# Parts of a score in words; what is not named is told by its own name.
_WHY = {
    "doc": "the message has the words", "turn": "the turn has the words", "session": "the session has the words",
    "meaning": "it means something alike", "sentence": "one sentence fits", "statement": "it states it",
    "cover": "most words are there", "near": "close in meaning", "rare": "the rare words are there",
    "time": "it is of that time", "keywords": "it has the words",
}  # fmt: skip


@value
class Found:
    """A hit, where it leads and why it is here."""

    hit: Hit
    address: str
    title: str
    why: tuple[tuple[str, float], ...]  # the parts of its score in words, the heaviest first


def search(ask: Ask) -> Response:
    """Draw the box, and what is found for what stands in it."""
    query = (ask.given("q") or "").strip()
    chosen = {name: ask.given(name) or "" for name in _FILTERS}
    given = {name: said for name, said in chosen.items() if said}
    many = min(ask.number("k", _MANY), _MOST)
    found = _found(ask, query, given, many) if query else []
    nearest = not found and bool(query)
    if nearest:
        found = _found(ask, query, given, _NEAREST, abstain=False)
    more = f"/search?{urlencode({'q': query, **given, 'k': many + _MANY})}" if len(found) >= many < _MOST else ""
    facts: dict[str, Any] = {
        "query": query, "chosen": chosen, "is_filtered": bool(given), "found": found, "more": more, "nearest": nearest,
    }  # fmt: skip
    if ask.is_part:
        return ask.draw("search/_found.html", **facts)
    if not query:
        warm(ask.engram)
    places = ask.engram.list_projects()
    flavors = sorted({flavor for place in places for flavor in place.flavors})
    projects = words.places(each.project for each in places if each.project)
    return ask.draw("search/search.html", **facts, kinds=KINDS, projects=projects, flavors=flavors)


def warm(engram: Engram) -> None:
    """Search for nothing while somebody still looks or types: what that loads, all later searches have."""
    if engram not in _warmed:
        _warmed.add(engram)
        Task(lambda store: store.recall("anything", 1, until="1970-01-02", abstain=False)).begin(engram)


def _found(ask: Ask, query: str, chosen: dict[str, str], many: int, *, abstain: bool = True) -> list[Found]:
    tiers = list(KINDS[chosen["kind"]][1]) if chosen.get("kind") in KINDS else None
    hits = ask.engram.recall(
        query, many, tiers=tiers, project=chosen.get("project"), flavor=chosen.get("flavor"),
        since=chosen.get("since"), until=chosen.get("until"), abstain=abstain,
    )  # fmt: skip
    return [Found(hit=hit, address=address(hit), title=_title(hit), why=_why(hit)) for hit in hits]


def address(hit: Hit) -> str:
    """Return where a hit is read, with what stands around it."""
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


def shown(ask: Ask) -> Response:
    """Draw one hit by itself, whole, with what was said around it."""
    return ask.draw("search/hit.html", around=ask.engram.get(ask.path("id"), 4))


def _title(hit: Hit) -> str:
    name = (hit.name or "").partition("#")[0]
    if hit.tier == "daily":
        return f"Daily log of {name.rpartition('/')[2]}"
    if hit.tier == "article":
        return hit.summary or name.rpartition("/")[2].replace("-", " ")
    if hit.tier in ("profile", "narrative"):
        return "Who you are to your agents" if hit.tier == "profile" else "Where things stand"
    if hit.tier == "world":
        return f"World state of {name}" if name else "World state"
    return name or hit.tier if hit.tier in ("era", "guide") else hit.summary or name or hit.tier


def _why(hit: Hit) -> tuple[tuple[str, float], ...]:
    parts = sorted(hit.why.items(), key=lambda part: -part[1])
    return tuple((_WHY.get(name, name.replace("_", " ")), weight) for name, weight in parts if weight > 0)


_warmed: WeakSet[Engram] = WeakSet()
ADDRESSES = (Address("/search", search), Address("/search/{id}", shown))
