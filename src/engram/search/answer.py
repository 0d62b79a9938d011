"""Answer a question with messages: search, stay silent if nothing answers, fold near duplicates, build hits."""

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

# What the best doc must reach for a question to count as answered: the share of the question's words in its turn, plus
# half of that in one sentence, plus some of its similarity in meaning. At this value one in a hundred questions of
# benchmarks/recall that have an answer gets none.
ANSWERED = 0.45
_BY_MEANING = 0.3  # how much similarity counts
WORDS = 0.45  # the same by words alone, if there are no vectors
_TRIES = 5  # attempts per question
_SPARE = 3  # factor on the rows read, because some are folded away
_RETOLD = ("gist", "digest", "daily")  # kinds that restate a session, dropped if the session itself is a hit
_SIFTED = 1_000  # events read if a filter applies
_EVENT = 0.35  # score of the best event: it contains all words, but nobody said it


def answer_question(
    hub: Hub, text: str, filters: Filter, now: datetime, k: int, *, by_session: bool, abstain: bool
) -> list[Hit]:  # fmt: skip
    """Return at most k messages and passages, best first."""
    parsed = parse_question(text, now)
    if parsed.only_time:
        filters, abstain = limit_to_window(filters, parsed.window), False
    result = search_messages(hub, parsed, filters)
    if abstain and not is_answered(result, parsed):
        result = result.select(np.arange(0))
    scores = result.scores
    if by_session:
        result, scores = result.by_session()
    hits = _build_hits(hub, parsed, load_rows(hub, parsed, result, scores, k * _SPARE), k, by_session)
    if wants_events(filters, parsed):
        hits = _merge_hits(hits, find_event_hits(hub, parsed, filters, k), k, by_session)
    return hits


def search_messages(hub: Hub, question: Question, filters: Filter) -> SearchResult:
    """Search the index; retry if another process merged a segment away during the search.

    Recent messages are indexed first; if the store cannot be written now, what is already indexed is searched.
    """
    with suppress(StoreFull, StoreBusy):
        index_recent(hub)
    for _ in range(_TRIES):
        snapshot = load_snapshot(hub)
        result = search_index(hub, question, build_mask(hub, snapshot, filters), snapshot=snapshot)
        if snapshot.has_all_segments():
            break
    return result


def is_answered(result: SearchResult, question: Question) -> bool:
    """Return whether any doc answers a question; phrases are checked in the text."""
    if question.phrases or not len(result.docs):
        return True
    worth = measure_match(result)
    return bool(worth.max() >= (ANSWERED if result.by_meaning else WORDS))


def measure_match(result: SearchResult) -> Any:
    """Return how well each doc matches a question, on the same scale for all questions."""
    meaning = _BY_MEANING * result.near if result.by_meaning else 0.0
    return result.cover + 0.5 * result.parts.sentence + meaning


def measure_doc(doc: ScoredDoc, *, by_meaning: bool) -> float:
    """Return how well a doc matches a question, on the same scale for all questions."""
    return doc.cover + 0.5 * doc.why.get("sentence", 0.0) + (_BY_MEANING * doc.near if by_meaning else 0.0)


def load_rows(
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
    shown = [rank for rank in range(len(candidates)) if rank not in duplicates][:k]
    # Only among the hits that are shown anyway: a newer statement that pushed another hit out was rarely right.
    newer = {old: new for old, new in replaced if old in shown and new in shown}
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
        hits.append(build_message_hit(hub, question, candidate, row, extra))
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


def build_message_hit(hub: Hub, question: Question, candidate: ScoredDoc, row: Row, extra: dict[str, Any]) -> Hit:
    """Return the hit of a message or a passage."""
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


def wants_events(filters: Filter, question: Question) -> bool:
    """Return whether calls and results may answer a question."""
    if filters.role or (filters.tiers and "event" not in filters.tiers):
        return False
    return bool(question.words or question.phrases)


def find_event_hits(hub: Hub, question: Question, filters: Filter, k: int) -> list[Hit]:
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
    allowed = list_allowed_sessions(hub, filters)
    bodies = EventBodies(hub) if rows else None
    hits: list[Hit] = []
    for match in matches:
        row = rows.get(match["id"])
        if row is not None and bodies is not None and len(hits) < k and _is_allowed_event(row, filters, allowed):
            hits.append(_build_event_hit(bodies, row, question, _EVENT * max(0.0, match["score"]) / best))
    return hits


def list_allowed_sessions(hub: Hub, filters: Filter) -> set[str] | None:
    """Return the sessions that pass the filter; None for all."""
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
