"""Search the index: collect candidates by every scoring method and fuse their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engram.errors import MissingExtra, ModelInvalid, ModelRefused, ModelUnavailable, SettingsInvalid
from engram.hub import Hub
from engram.index import dense
from engram.index.doc_kinds import EXCHANGES, KINDS
from engram.index.lexical import KeywordScores, compute_max_rarity, score_keywords
from engram.index.snapshot import IndexSnapshot, load_snapshot
from engram.index.tokenizer import extract_terms
from engram.models import embedder
from engram.platform.value import value
from engram.search import fuse
from engram.search.sentence_match import match_texts
from engram.store import exchanges, index_segments

if TYPE_CHECKING:
    from engram.models.embedder import Embedder
    from engram.search.query import Question

Array = np.ndarray[Any, Any]

_FEW = 20_000  # below this many docs, every doc is a candidate
_BEST = 1_000  # candidates per scoring method
_READ = 120  # candidates whose text is read
_ROUNDING = 1e-4  # of sums of weights
_EXPANDED = 64  # terms a prefix may expand to
_PERSON = KINDS.index("user")
_NOBODY: tuple[None, Any] = (None, ())  # embeds the question


@value
class ScoredDoc:
    """A doc that was found, with the parts of its score."""

    doc: int
    kind: str
    source: int
    session: int  # numbers in the index snapshot
    score: float
    cover: float  # share of the question's words in its turn
    near: float  # similarity in meaning; 1 or more is enough without a common word
    rare: float  # weight of the question's words in its turn; a word no other doc has weighs 1
    why: dict[str, float]


class SearchResult:
    """The result of a search as parallel arrays, best first."""

    def __init__(
        self, snapshot: IndexSnapshot, docs: Array, parts: fuse.ScoreParts, weights: fuse.ScoreWeights, by_meaning: bool
    ) -> None:
        self.snapshot, self.docs, self.parts, self.weights = snapshot, docs, parts, weights
        self.by_meaning = by_meaning  # whether vectors were used
        self.scores = fuse.fuse_scores(parts, weights)
        self.cover = self.near = np.zeros(len(docs))
        self.weight = 0.0  # weight of all words of the question, on the same scale

    def sort_by_score(self) -> SearchResult:
        """Return the result sorted by score; on a tie, the newest first."""
        times, sources = self.snapshot.times[self.docs], self.snapshot.sources[self.docs]
        equal = np.round(self.scores, 5)  # two ways to the same sum differ in the last digits
        return self.select(np.lexsort((-sources, -times, -equal)))

    def select(self, positions: Array) -> SearchResult:
        """Return the rows at these positions, in this order."""
        selected = SearchResult(
            self.snapshot, self.docs[positions], fuse.select_parts(self.parts, positions), self.weights, self.by_meaning
        )
        selected.cover, selected.near, selected.weight = self.cover[positions], self.near[positions], self.weight
        return selected

    def list_docs(self, first: int, last: int) -> list[ScoredDoc]:
        """Return docs of a range of ranks, with the parts of their scores."""
        return [self._build_doc(position) for position in range(first, min(last, len(self.docs)))]

    def _build_doc(self, position: int) -> ScoredDoc:
        doc = int(self.docs[position])
        why = {name: round(float(getattr(self.parts, name)[position]), 3) for name in fuse.ScoreParts.__annotations__}
        return ScoredDoc(
            doc=doc,
            kind=KINDS[self.snapshot.kinds[doc]],
            source=int(self.snapshot.sources[doc]),
            session=int(self.snapshot.session_of[doc]),
            score=float(self.scores[position]),
            cover=float(self.cover[position]),
            near=float(self.near[position]),
            rare=float(self.cover[position]) * self.weight,
            why=why,
        )

    def by_session(self) -> tuple[SearchResult, Array]:
        """Return the best doc of each session, best session first, and the session scores."""
        groups = self.snapshot.session_of[self.docs]
        prior = self.weights.session * self.parts.session / self.weights.total
        pooled = fuse.pool_scores(self.scores - prior, groups, self.weights)
        sessions, positions = np.unique(groups, return_index=True)  # the first of a group is its best
        scores = np.array([pooled[int(session)] for session in sessions]) + prior[positions]
        order = np.argsort(-scores, kind="stable")
        return self.select(positions[order]), scores[order]


def search_index(
    hub: Hub,
    question: Question,
    mask: Array | None = None,
    weights: fuse.ScoreWeights | None = None,
    snapshot: IndexSnapshot | None = None,
) -> SearchResult:
    """Return docs for a question, best first; the mask covers the docs of the snapshot."""
    weights, snapshot = weights or fuse.ScoreWeights(), snapshot or load_snapshot(hub)
    allowed = snapshot.alive if mask is None else snapshot.alive & mask
    words = score_keywords(snapshot, _expand_terms(snapshot, question), allowed)
    meaning = _score_meaning(hub, snapshot, question, allowed)
    docs = _find_phrase_docs(snapshot, question, words, allowed)
    most = _BEST if docs is None else len(docs)
    docs = _pick_candidates(snapshot, words, meaning.scores, allowed) if docs is None else docs
    parts = _build_parts(snapshot, words, meaning.scores, docs, question, weights)
    result = SearchResult(snapshot, docs, parts, weights, meaning.models > 0)
    result.cover, result.near = words.cover[snapshot.turn_of[docs]], meaning.near[docs]
    result.weight = sum(words.terms.values()) / compute_max_rarity(snapshot)
    result = result.select(np.argsort(-result.scores, kind="stable")[:most])
    _score_sentences(hub, snapshot, result.docs, words, result.parts)
    result.scores = fuse.fuse_scores(result.parts, weights)
    return result.sort_by_score()


def _score_sentences(
    hub: Hub, snapshot: IndexSnapshot, docs: Array, words: KeywordScores, parts: fuse.ScoreParts
) -> None:
    """Read the best exchanges and score their best matching sentence."""
    exchange_docs = [
        (position, int(doc)) for position, doc in enumerate(docs[:_READ]) if snapshot.kinds[doc] < EXCHANGES
    ]
    texts = exchanges.fetch_texts(hub.engine, [int(snapshot.sources[doc]) for _, doc in exchange_docs])
    matches = match_texts(words.terms, [texts.get(int(snapshot.sources[doc]), "") for _, doc in exchange_docs])
    for (position, doc), match in zip(exchange_docs, matches, strict=True):
        parts.sentence[position] = match.sentence
        parts.statement[position] = match.statement and snapshot.kinds[doc] == _PERSON


def _expand_terms(snapshot: IndexSnapshot, question: Question) -> dict[str, list[str]]:
    """Return the index terms each word of a question expands to."""
    terms = {word: [word] for word in question.words}
    for prefix in question.beginnings:
        terms[prefix] = sorted({*terms.get(prefix, []), *snapshot.find_terms(prefix, _EXPANDED)})
    return terms


@value
class _MeaningScores:
    """The similarity in meaning of each doc to a question."""

    scores: Any  # scaled so that the most similar is 1
    near: Any  # 1 or more is enough to answer without a common word
    models: int  # number of vectors compared


def _score_meaning(hub: Hub, snapshot: IndexSnapshot, question: Question, allowed: Array) -> _MeaningScores:
    """Score each doc by similarity in meaning; if it has vectors of several models, use the best."""
    scores, nearness, judged = (
        np.zeros(snapshot.count, np.float32),
        np.zeros(snapshot.count, np.float32),
        snapshot.alive & False,
    )
    model_count = 0
    for row in _list_spaces(hub):
        space = dense.load_space(snapshot, row["id"], row["dim"])
        model, vector = _embed_with(hub, row["model"], question.text) if len(space.docs) else _NOBODY
        if model is None or vector is None or len(vector) != space.dim:
            continue  # the model is gone, does not answer, or changed under the same name
        docs, near = space.score_docs(vector, allowed & ~judged)
        *baseline, sure = embedder.get_baseline(model)
        model_count += 1
        if len(docs):
            mean, spread = space.estimate_usual_similarity(vector, (baseline[0], baseline[1]))
            above = np.maximum((near - mean) / (spread or 1.0), 0.0)
            judged[docs] = True
            nearness[docs], scores[docs] = above / sure, fuse.scale_to_unit(above)
    return _MeaningScores(scores=scores, near=nearness, models=model_count)


def _embed_with(hub: Hub, model: str, text: str) -> tuple[Embedder | None, Any]:
    """Return a model's embedder and its vector of a text; None if the model is gone or does not answer."""
    try:
        chosen = embedder.find_embedder(model, hub.settings)
        return (chosen, chosen.embed([text])[0]) if chosen else _NOBODY
    except (ModelUnavailable, ModelRefused, ModelInvalid, MissingExtra, SettingsInvalid):
        return _NOBODY  # the other scoring methods still answer


def _list_spaces(hub: Hub) -> list[dict[str, Any]]:
    """Return the vector spaces of the models in use, the configured one first."""
    chosen = embedder.get_embedder_name(hub.settings)
    if chosen == embedder.OFF:
        return []
    rows, chosen_model = index_segments.list_spaces(hub.engine), embedder.get_model_name(chosen, hub.settings)
    return sorted(rows, key=lambda row: (row["model"] != chosen_model, -row["id"]))


def _pick_candidates(snapshot: IndexSnapshot, words: KeywordScores, meaning: Array, allowed: Array) -> Array:
    """Return the docs worth reading."""
    if snapshot.count <= _FEW:
        docs: Array = np.flatnonzero(((words.turns[snapshot.turn_of] > 0) | (meaning > 0)) & allowed)
        return docs
    best = np.zeros(snapshot.turns, bool)
    best[_find_top_positions(words.turns, _BEST // 2)] = True
    answered = np.flatnonzero(best[snapshot.turn_of])[: 8 * _BEST]
    merged = np.unique(
        np.concatenate([_find_top_positions(words.docs, _BEST), _find_top_positions(meaning, _BEST), answered])
    )
    allowed_docs: Array = merged[allowed[merged]]
    return allowed_docs


def _find_phrase_docs(
    snapshot: IndexSnapshot, question: Question, words: KeywordScores, allowed: Array
) -> Array | None:
    """Return all docs that may contain the phrases of a question: their turns have the words; None without phrases."""
    phrase_words = set(extract_terms(" ".join(question.phrases)))
    least = sum(rarity for word, rarity in words.terms.items() if word in phrase_words)
    if least <= 0:
        return None
    share = least / sum(words.terms.values()) - _ROUNDING
    docs: Array = np.flatnonzero((words.cover[snapshot.turn_of] >= share) & allowed)
    return docs


def _find_top_positions(scores: Array, count: int) -> Array:
    """Return the positions of the highest scores above 0."""
    positions = np.flatnonzero(scores)
    if len(positions) <= count:
        return positions
    return positions[np.argpartition(-scores[positions], count)[:count]]


def _build_parts(
    snapshot: IndexSnapshot,
    words: KeywordScores,
    meaning: Array,
    docs: Array,
    question: Question,
    weights: fuse.ScoreWeights,
) -> fuse.ScoreParts:
    person_factor = np.where(snapshot.kinds[docs] == _PERSON, 1.0, 1.0 - weights.person)
    return fuse.ScoreParts(
        doc=fuse.scale_to_unit(words.docs[docs]) * person_factor,
        turn=fuse.scale_to_unit(words.turns[snapshot.turn_of[docs]]),
        meaning=meaning[docs],
        session=fuse.scale_to_unit(words.sessions[snapshot.session_of[docs]]),
        sentence=np.zeros(len(docs)),
        statement=np.zeros(len(docs)),
        time=_score_time(snapshot.times[docs], question),
    )


def _score_time(times: Array, question: Question) -> Array:
    """Score docs by the time a question asks about: 1 inside it, less near its edges if it is vague."""
    if question.window is None:
        return np.zeros(len(times))
    since, until = question.window.since, question.window.until
    first = int(since.timestamp() * 1_000_000) if since else np.iinfo(np.int64).min
    last = int(until.timestamp() * 1_000_000) if until else np.iinfo(np.int64).max
    inside: Array = ((times >= first) & (times < last)) * (1.0 if question.window.certain else 0.5)
    return inside
