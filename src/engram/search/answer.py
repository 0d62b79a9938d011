"""Answer a question: search, drop irrelevant hits, fold near duplicates, and build the hits to show."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.capture.digests.event_bodies import EventBodies
from engram.clock import to_datetime
from engram.errors import BodyGone, StoreBusy, StoreDamaged, StoreFull
from engram.hub import Hub
from engram.index.doc_kinds import EXCHANGES, KINDS
from engram.index.maintenance import index_recent
from engram.index.snapshot import load_snapshot
from engram.index.tokenizer import STOP_WORDS, extract_terms, fold_text
from engram.platform.text import to_one_line
from engram.search import near_duplicates
from engram.search.candidates import ScoredDoc, SearchResult, search_index
from engram.search.filter import Filter, build_mask, limit_to_window
from engram.search.query import Question, parse_question
from engram.search.snippet import extract_snippet
from engram.store import event_words, events, exchanges, passages
from engram.types import Hit

if TYPE_CHECKING:
    from datetime import datetime

    from engram.store.engine import Row

# The share of the question's words a hit must contain (in its turn, plus half of that in one sentence), unless its
# meaning is close enough without them. At this value 1 in 50 questions that have an answer gets none; see
# benchmarks/recall.
WORDS = 0.45
_WORDLESS = 1.3  # factor on the similarity required of a doc that shares no word with the question
_TRIES = 5  # attempts per question
_SPARE = 3  # factor on the rows read, because some are folded away
_RETOLD = ("gist", "digest", "daily")  # kinds that restate a session, dropped if the session itself is a hit
_SIFTED = 1_000  # events read if a filter applies
_EVENT = 0.35  # score of the best event: it contains all words, but nobody said it


def answer_question(
    hub: Hub, text: str, filters: Filter, now: datetime, k: int, *, by_session: bool, abstain: bool
) -> list[Hit]:  # fmt: skip
    """Return at most k hits, best first."""
    _update_index(hub)
    parsed = parse_question(text, now)
    if parsed.only_time:
        filters, abstain = limit_to_window(filters, parsed.window), False
    result = _search_with_retries(hub, parsed, filters)
    if abstain:
        result = _keep_relevant(result, parsed)
    scores = result.scores
    if by_session:
        result, scores = result.by_session()
    hits = _build_hits(hub, parsed, _load_rows(hub, parsed, result, scores, k * _SPARE), k, by_session)
    if _wants_events(filters, parsed):
        hits = _merge_hits(hits, _find_event_hits(hub, parsed, filters, k), k, by_session)
    return hits


def _update_index(hub: Hub) -> None:
    """Index recent exchanges; if the store cannot be written now, search what is already indexed."""
    with suppress(StoreFull, StoreBusy):
        index_recent(hub)


def _search_with_retries(hub: Hub, question: Question, filters: Filter) -> SearchResult:
    """Search; retry if another process merged a segment away during the search."""
    for _ in range(_TRIES):
        snapshot = load_snapshot(hub)
        result = search_index(hub, question, build_mask(hub, snapshot, filters), snapshot=snapshot)
        if snapshot.has_all_segments():
            break
    return result


def _keep_relevant(result: SearchResult, question: Question) -> SearchResult:
    """Drop hits that match too little of the question; keep all if it has phrases, which are checked in the text."""
    if question.phrases:
        return result
    word_share = result.cover + 0.5 * result.parts.sentence
    nearness_needed = np.where(result.cover > 0, 1.0, _WORDLESS)
    return result.select(np.flatnonzero((word_share >= WORDS) | (result.near >= nearness_needed)))


def _load_rows(
    hub: Hub, question: Question, result: SearchResult, scores: Any, count: int
) -> list[tuple[ScoredDoc, Row]]:
    """Load the rows of the first docs; if the question has phrases, keep only rows that contain them."""
    loaded: list[tuple[ScoredDoc, Row]] = []
    step = max(count, 50) if question.phrases else count
    for start in range(0, len(result.docs), step):
        batch = result.list_docs(start, start + step)
        exchange_rows = exchanges.fetch_by_ids(
            hub.engine, [candidate.source for candidate in batch if candidate.kind in KINDS[:EXCHANGES]]
        )
        passage_rows = passages.fetch_by_ids(
            hub.engine, [candidate.source for candidate in batch if candidate.kind not in KINDS[:EXCHANGES]]
        )
        for rank, candidate in enumerate(batch, start):
            row = (exchange_rows if candidate.kind in KINDS[:EXCHANGES] else passage_rows).get(candidate.source)
            if row is not None and _has_phrases(row["content"], question.phrases):
                loaded.append((ScoredDoc(**{**vars(candidate), "score": float(scores[rank])}), row))
        if len(loaded) >= count:
            break
    return loaded[:count]


def _has_phrases(text: str, phrases: tuple[str, ...]) -> bool:
    if not phrases:
        return True
    folded = " ".join(fold_text(text).split())
    return all(phrase in folded for phrase in phrases)


def _build_hits(
    hub: Hub, question: Question, candidates: list[tuple[ScoredDoc, Row]], k: int, by_session: bool
) -> list[Hit]:
    """Build hits: fold duplicates, and rank a newer statement above the one it replaces.

    When grouping by session, keep every session and its rank.
    """
    texts = [
        near_duplicates.ComparedText(
            words=frozenset(extract_terms(row["content"][:4000])), at=row["at"], statement=_is_statement(candidate, row)
        )
        for candidate, row in candidates
    ]
    duplicates = {} if by_session else near_duplicates.find_copies(texts)
    replaced = near_duplicates.find_replaced(texts, frozenset(question.words)).items()
    newer = {old: new for old, new in replaced if old not in duplicates and new not in duplicates}
    scores = near_duplicates.raise_newer([candidate.score for candidate, _ in candidates], {} if by_session else newer)
    order = sorted(
        (rank for rank in range(len(candidates)) if rank not in duplicates), key=lambda place: -scores[place]
    )
    hits = []
    for rank in _drop_retold(candidates, order, k)[:k]:
        candidate, row = candidates[rank]
        copies = sum(1 for original in duplicates.values() if original == rank)
        extra: dict[str, Any] = {"copies": copies, "score": round(scores[rank], 3)}
        if rank in newer:
            extra |= {"state": "superseded", "superseded_by": _format_hit_id(*candidates[newer[rank]])}
        hits.append(_build_hit(hub, question, candidate, row, extra))
    return hits


def _drop_retold(candidates: list[tuple[ScoredDoc, Row]], order: list[int], k: int) -> list[int]:
    """Drop hits that only restate a session that is among the hits."""
    shown_sessions = {
        candidates[rank][1]["session_id"] for rank in order[:k] if candidates[rank][0].kind not in _RETOLD
    } - {None}
    return [
        rank
        for rank in order
        if candidates[rank][0].kind not in _RETOLD or candidates[rank][1]["session_id"] not in shown_sessions
    ]


def _is_statement(candidate: ScoredDoc, row: Row) -> bool:
    return candidate.kind == "user" and "?" not in row["content"]


def _format_hit_id(candidate: ScoredDoc, row: Row) -> str:
    return f"{'x' if candidate.kind in KINDS[:EXCHANGES] else 'p'}{row['id']}"


def _build_hit(hub: Hub, question: Question, candidate: ScoredDoc, row: Row, extra: dict[str, Any]) -> Hit:
    is_exchange = candidate.kind in KINDS[:EXCHANGES]
    terms = frozenset((*question.words, *question.beginnings))
    facts: dict[str, Any] = (
        {
            "turn": exchanges.count_before(hub.engine, row),
            "exchange": row["id"],
            "event": row["event"],
            "role": row["role"],
            "origin": row["origin"],
            "asked": _find_prompt(hub, candidate, row),
        }
        if is_exchange
        else {"role": "system", "name": row["key"], "origin": "import" if candidate.kind == "guide" else "derived"}
    )
    return Hit(
        id=_format_hit_id(candidate, row),
        tier="exchange" if is_exchange else candidate.kind,
        session_id=row["session_id"],
        at=to_datetime(row["at"]),
        snippet=extract_snippet(row["content"], terms),
        why={name: part for name, part in candidate.why.items() if part} | _build_absolute_scores(candidate),
        flavor=row["flavor"] or "",
        project=row["project"] or "",
        summary=row["summary"] or "",
        **facts,
        **extra,
    )


def _build_absolute_scores(candidate: ScoredDoc) -> dict[str, float]:
    """Return the scores that do not depend on the other hits."""
    return {"cover": round(candidate.cover, 3), "near": round(candidate.near, 3), "rare": round(candidate.rare, 3)}


def _find_prompt(hub: Hub, candidate: ScoredDoc, row: Row) -> str | None:
    """Return the prompt that an answer replies to."""
    if candidate.kind == "user":
        return None
    prompt_id = exchanges.find_prompt_id(hub.engine, row)
    prompt = exchanges.fetch_by_ids(hub.engine, [prompt_id]).get(prompt_id) if prompt_id != row["id"] else None
    return to_one_line(prompt["content"], 120) if prompt else None


def _wants_events(filters: Filter, question: Question) -> bool:
    if filters.role or (filters.tiers and "event" not in filters.tiers):
        return False
    return bool(question.words or question.phrases)


def _find_event_hits(hub: Hub, question: Question, filters: Filter, k: int) -> list[Hit]:
    """Return events that contain all words of a question."""
    terms = [word for word in re.findall(r"\w+", question.text) if word.lower() not in STOP_WORDS] or re.findall(
        r"\w+", question.text
    )
    is_filtered = filters.session_criteria or filters.exclude or filters.since is not None or filters.until is not None
    matches = event_words.find_events(hub.engine, " ".join(terms), max(k * _SPARE, _SIFTED if is_filtered else 0))
    best = max((match["score"] for match in matches), default=0.0) or 1.0
    rows = (
        {row["id"]: row for row in events.fetch_by_ids(hub.engine, [match["id"] for match in matches])}
        if matches
        else {}
    )
    allowed = _list_allowed_sessions(hub, filters)
    bodies = EventBodies(hub) if rows else None
    hits: list[Hit] = []
    for match in matches:
        row = rows.get(match["id"])
        if row is not None and bodies is not None and len(hits) < k and _is_allowed_event(row, filters, allowed):
            hits.append(_build_event_hit(bodies, row, question, _EVENT * max(0.0, match["score"]) / best))
    return hits


def _list_allowed_sessions(hub: Hub, filters: Filter) -> set[str] | None:
    from engram.store import sessions

    return set(sessions.find_matching_ids(hub.engine, **filters.session_criteria)) if filters.session_criteria else None


def _is_allowed_event(row: Row, filters: Filter, allowed: set[str] | None) -> bool:
    at = row["at"] or 0
    return (
        (allowed is None or row["session_id"] in allowed) and row["session_id"] != filters.exclude
        and (filters.since is None or at >= filters.since) and (filters.until is None or at < filters.until)
    )  # fmt: skip


def _build_event_hit(bodies: EventBodies, row: Row, question: Question, score: float) -> Hit:
    return Hit(
        id=f"e{row['id']}",
        tier="event",
        session_id=row["session_id"],
        role=row["role"],
        name=row["name"],
        at=to_datetime(row["at"]) if row["at"] else None,
        snippet=_make_event_snippet(bodies, row, question),
        score=round(score, 3),
        why={"keywords": round(score / _EVENT, 3)},
        event=row["id"],
        flavor=row["flavor"],
        project=row["project"],
        summary=row["summary"],
        origin="tool" if row["role"] == "tool" else row["role"],
    )


def _make_event_snippet(bodies: EventBodies, row: Row, question: Question) -> str:
    try:
        event = bodies.load_event(row)
    except (BodyGone, StoreDamaged):
        return ""
    text = event.text or " ".join(_collect_texts(event.arguments))
    return extract_snippet(text, frozenset(question.words))


def _collect_texts(arguments: Any) -> list[str]:
    """Collect the texts in a call's arguments, however deeply nested."""
    pending, texts = [arguments], []
    while pending:
        item = pending.pop()
        if isinstance(item, dict | list):
            pending += reversed([*(item.values() if isinstance(item, dict) else item)])
        elif item is not None:
            texts.append(str(item))
    return texts


def _merge_hits(hits: list[Hit], event_hits: list[Hit], k: int, by_session: bool) -> list[Hit]:
    """Merge hits and events by score; keep one per session if `by_session` is set."""
    sessions = {hit.session_id for hit in hits} if by_session else set()
    event_ids = {hit.event for hit in hits if hit.event is not None}
    for event_hit in event_hits:
        if event_hit.session_id not in sessions and event_hit.event not in event_ids:
            hits.append(event_hit)
            if by_session:
                sessions.add(event_hit.session_id)
    return sorted(hits, key=lambda hit: -hit.score)[:k]
