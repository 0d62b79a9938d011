"""Answer a question: search, leave out what does not answer, fold what says the same, and show where it stands."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.clock import moment
from engram.digests.bodies import Bodies
from engram.errors import BodyGone, StoreBusy, StoreDamaged, StoreFull
from engram.hub import Hub
from engram.index.index import catch_up
from engram.index.kinds import EXCHANGES, KINDS
from engram.index.shelf import shelf
from engram.index.words import STOP, fold, words
from engram.model import Hit
from engram.recall import kin
from engram.recall.filter import Filter, mask, within
from engram.recall.question import Question, question
from engram.recall.search import Found, Result, search
from engram.recall.snippet import snippet
from engram.store import event_words, events, exchanges, passages
from engram.text import one_line

if TYPE_CHECKING:
    from datetime import datetime

    from engram.store.engine import Row

# What a hit must hold of the question's words (in its turn, and half as much in one sentence), unless its meaning is
# near enough without them. Chosen so that 1 in 50 questions that have an answer is passed over; see benchmarks/recall.
WORDS = 0.45
_WORDLESS = 1.3  # times as near must be what has no word of the question at all
_TRIES = 5  # searches of one question
_SPARE = 3  # times as many are looked at as are wanted: some are folded away
_RETOLD = ("gist", "digest", "daily")  # what tells a session again is left out where the session itself was found
_SIFTED = 1_000  # events that are looked through for those a filter lets pass
_EVENT = 0.35  # what the best event scores: it holds all words, but nobody said it


def answer(
    hub: Hub, asked: str, wanted: Filter, now: datetime, k: int, *, by_session: bool, abstain: bool
) -> list[Hit]:  # fmt: skip
    """Return at most k hits, best first."""
    _catch_up(hub)
    about = question(asked, now)
    if about.only_time:
        wanted, abstain = within(wanted, about.window), False
    result = _searched(hub, about, wanted)
    if abstain:
        result = _relevant(result, about)
    scores = result.scores
    if by_session:
        result, scores = result.by_session()
    hits = _said(hub, about, _holding(hub, about, result, scores, k * _SPARE), k, by_session)
    if _wants_events(wanted, about):
        hits = _merged(hits, _events(hub, about, wanted, k), k, by_session)
    return hits


def _catch_up(hub: Hub) -> None:
    """Index what was just said; where nothing can be written now, what is indexed answers."""
    with suppress(StoreFull, StoreBusy):
        catch_up(hub)


def _searched(hub: Hub, about: Question, wanted: Filter) -> Result:
    """Search, and again where another process has merged away what was searched."""
    for _ in range(_TRIES):
        held = shelf(hub)
        result = search(hub, about, mask(hub, held, wanted), held=held)
        if held.stands():
            break
    return result


def _relevant(result: Result, about: Question) -> Result:
    """Leave out what answers too little of a question to be worth showing; phrases are looked for in the text."""
    if about.phrases:
        return result
    held = result.cover + 0.5 * result.parts.sentence
    near = np.where(result.cover > 0, 1.0, _WORDLESS)
    return result.only(np.flatnonzero((held >= WORDS) | (result.near >= near)))


def _holding(hub: Hub, about: Question, result: Result, scores: Any, count: int) -> list[tuple[Found, Row]]:
    """Return the first docs with their rows; where phrases are asked for, only those that hold them."""
    kept: list[tuple[Found, Row]] = []
    step = max(count, 50) if about.phrases else count
    for start in range(0, len(result.docs), step):
        batch = result.found(start, start + step)
        said = exchanges.by_id(hub.engine, [each.source for each in batch if each.kind in KINDS[:EXCHANGES]])
        made = passages.by_id(hub.engine, [each.source for each in batch if each.kind not in KINDS[:EXCHANGES]])
        for place, each in enumerate(batch, start):
            row = (said if each.kind in KINDS[:EXCHANGES] else made).get(each.source)
            if row is not None and _has(row["content"], about.phrases):
                kept.append((Found(**{**vars(each), "score": float(scores[place])}), row))
        if len(kept) >= count:
            break
    return kept[:count]


def _has(text: str, phrases: tuple[str, ...]) -> bool:
    if not phrases:
        return True
    plain = " ".join(fold(text).split())
    return all(phrase in plain for phrase in phrases)


def _said(hub: Hub, about: Question, found: list[tuple[Found, Row]], k: int, by_session: bool) -> list[Hit]:
    """Return hits, with what says the same folded and a newer statement before the one it replaces.

    Sessions are told apart and keep their order, whatever one of their statements says.
    """
    said = [
        kin.Said(words=frozenset(words(row["content"][:4000])), at=row["at"], statement=_is_statement(each, row))
        for each, row in found
    ]
    same = {} if by_session else kin.copies(said)
    replaced = kin.replaced(said, frozenset(about.words)).items()
    newer = {old: new for old, new in replaced if old not in same and new not in same}
    scores = kin.raised([each.score for each, _ in found], {} if by_session else newer)
    order = sorted((place for place in range(len(found)) if place not in same), key=lambda place: -scores[place])
    hits = []
    for place in _told_once(found, order, k)[:k]:
        each, row = found[place]
        copies = sum(1 for kept in same.values() if kept == place)
        extra: dict[str, Any] = {"copies": copies, "score": round(scores[place], 3)}
        if place in newer:
            extra |= {"state": "superseded", "superseded_by": _id(*found[newer[place]])}
        hits.append(_hit(hub, about, each, row, extra))
    return hits


def _told_once(found: list[tuple[Found, Row]], order: list[int], k: int) -> list[int]:
    """Leave out what tells a session again that is among the hits itself."""
    heard = {found[place][1]["session_id"] for place in order[:k] if found[place][0].kind not in _RETOLD} - {None}
    return [
        place for place in order if found[place][0].kind not in _RETOLD or found[place][1]["session_id"] not in heard
    ]


def _is_statement(each: Found, row: Row) -> bool:
    return each.kind == "user" and "?" not in row["content"]


def _id(each: Found, row: Row) -> str:
    return f"{'x' if each.kind in KINDS[:EXCHANGES] else 'p'}{row['id']}"


def _hit(hub: Hub, about: Question, each: Found, row: Row, extra: dict[str, Any]) -> Hit:
    said = each.kind in KINDS[:EXCHANGES]
    wanted = frozenset((*about.words, *about.beginnings))
    facts: dict[str, Any] = (
        {"turn": exchanges.turn(hub.engine, row), "exchange": row["id"], "event": row["event"], "role": row["role"],
         "origin": row["origin"], "asked": _asked(hub, each, row)}
        if said else {"role": "system", "name": row["key"], "origin": "import" if each.kind == "guide" else "derived"}
    )  # fmt: skip
    return Hit(
        id=_id(each, row), tier="exchange" if said else each.kind, session_id=row["session_id"],
        at=moment(row["at"]), snippet=snippet(row["content"], wanted),
        why={name: part for name, part in each.why.items() if part} | _absolute(each), flavor=row["flavor"] or "",
        project=row["project"] or "", summary=row["summary"] or "", **facts, **extra,
    )  # fmt: skip


def _absolute(each: Found) -> dict[str, float]:
    """Return what tells how well a doc answers, whatever else was found."""
    return {"cover": round(each.cover, 3), "near": round(each.near, 3), "rare": round(each.rare, 3)}


def _asked(hub: Hub, each: Found, row: Row) -> str | None:
    """Return what an answer answers to."""
    if each.kind == "user":
        return None
    turn = exchanges.asked(hub.engine, row)
    found = exchanges.by_id(hub.engine, [turn]).get(turn) if turn != row["id"] else None
    return one_line(found["content"], 120) if found else None


def _wants_events(wanted: Filter, about: Question) -> bool:
    if wanted.role or (wanted.tiers and "event" not in wanted.tiers):
        return False
    return bool(about.words or about.phrases)


def _events(hub: Hub, about: Question, wanted: Filter, k: int) -> list[Hit]:
    """Return events that hold all words of a question."""
    plain = [word for word in re.findall(r"\w+", about.text) if word.lower() not in STOP] or re.findall(
        r"\w+", about.text
    )
    narrow = wanted.of_sessions or wanted.exclude or wanted.since is not None or wanted.until is not None
    found = event_words.find(hub.engine, " ".join(plain), max(k * _SPARE, _SIFTED if narrow else 0))
    best = max((each["score"] for each in found), default=0.0) or 1.0
    rows = {row["id"]: row for row in events.by_id(hub.engine, [each["id"] for each in found])} if found else {}
    allowed = _allowed(hub, wanted)
    bodies = Bodies(hub) if rows else None
    hits: list[Hit] = []
    for each in found:
        row = rows.get(each["id"])
        if row is not None and bodies is not None and len(hits) < k and _fits(row, wanted, allowed):
            hits.append(_event(bodies, row, about, _EVENT * max(0.0, each["score"]) / best))
    return hits


def _allowed(hub: Hub, wanted: Filter) -> set[str] | None:
    from engram.store import sessions

    return set(sessions.matching(hub.engine, **wanted.of_sessions)) if wanted.of_sessions else None


def _fits(row: Row, wanted: Filter, allowed: set[str] | None) -> bool:
    at = row["at"] or 0
    return (
        (allowed is None or row["session_id"] in allowed) and row["session_id"] != wanted.exclude
        and (wanted.since is None or at >= wanted.since) and (wanted.until is None or at < wanted.until)
    )  # fmt: skip


def _event(bodies: Bodies, row: Row, about: Question, score: float) -> Hit:
    return Hit(
        id=f"e{row['id']}", tier="event", session_id=row["session_id"], role=row["role"], name=row["name"],
        at=moment(row["at"]) if row["at"] else None, snippet=_words_of(bodies, row, about), score=round(score, 3),
        why={"keywords": round(score / _EVENT, 3)}, event=row["id"], flavor=row["flavor"], project=row["project"],
        summary=row["summary"], origin="tool" if row["role"] == "tool" else row["role"],
    )  # fmt: skip


def _words_of(bodies: Bodies, row: Row, about: Question) -> str:
    try:
        event = bodies.event(row)
    except (BodyGone, StoreDamaged):
        return ""
    text = event.text or " ".join(_texts(event.arguments))
    return snippet(text, frozenset(about.words))


def _texts(given: Any) -> list[str]:
    """Return what a call was given, piece by piece, however deep it is nested."""
    waiting, found = [given], []
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            waiting += reversed([*(each.values() if isinstance(each, dict) else each)])
        elif each is not None:
            found.append(str(each))
    return found


def _merged(hits: list[Hit], more: list[Hit], k: int, by_session: bool) -> list[Hit]:
    """Return hits and events in one order; of each session one, where that is asked for."""
    known = {hit.session_id for hit in hits} if by_session else set()
    said = {hit.event for hit in hits if hit.event is not None}
    for each in more:
        if each.session_id not in known and each.event not in said:
            hits.append(each)
            if by_session:
                known.add(each.session_id)
    return sorted(hits, key=lambda hit: -hit.score)[:k]
