"""Search the index: every way of scoring at once, fused over the candidates they bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engram.errors import MissingExtra, ModelInvalid, ModelRefused, ModelUnavailable, SettingsInvalid
from engram.hub import Hub
from engram.index import dense
from engram.index.kinds import EXCHANGES, KINDS
from engram.index.lexical import Lexical, lexical, rarest
from engram.index.shelf import Shelf, shelf
from engram.llm import embedder
from engram.recall import fuse
from engram.recall.closer import looks
from engram.store import exchanges, segments
from engram.value import value

if TYPE_CHECKING:
    from engram.llm.embedder import Embedder
    from engram.recall.question import Question

Array = np.ndarray[Any, Any]

_FEW = 20_000  # docs up to which each of them is a candidate
_BEST = 1_000  # candidates each way of scoring brings
_READ = 120  # candidates whose text is read
_EXPANDED = 64  # terms a beginning may stand for
_PERSON = KINDS.index("user")
_NOBODY: tuple[None, Any] = (None, ())  # reads the question


@value
class Found:
    """A doc that was found, with the parts of its score."""

    doc: int
    kind: str
    source: int
    session: int  # as the shelf numbers them
    score: float
    cover: float  # the share of the question's words its turn holds
    near: float  # its meaning: 1 and more is near enough without a word in common
    rare: float  # what the question's words in its turn weigh, in words that nothing else holds
    why: dict[str, float]


class Result:
    """What a search brought, best first, as arrays in one order."""

    def __init__(self, held: Shelf, docs: Array, parts: fuse.Parts, weights: fuse.Weights, by_meaning: bool) -> None:
        self.held, self.docs, self.parts, self.weights = held, docs, parts, weights
        self.by_meaning = by_meaning  # whether vectors took part
        self.scores = fuse.fused(parts, weights)
        self.cover = self.near = np.zeros(len(docs))
        self.weight = 0.0  # of all words of the question, in words that nothing else holds

    def ordered(self) -> Result:
        """Return it with the best first; of equals, what was said last."""
        times, sources = self.held.times[self.docs], self.held.sources[self.docs]
        equal = np.round(self.scores, 5)  # two ways to one sum differ in its last digits
        return self.only(np.lexsort((-sources, -times, -equal)))

    def only(self, places: Array) -> Result:
        """Return some of it, in the order of the places."""
        some = Result(self.held, self.docs[places], fuse.chosen(self.parts, places), self.weights, self.by_meaning)
        some.cover, some.near, some.weight = self.cover[places], self.near[places], self.weight
        return some

    def found(self, first: int, last: int) -> list[Found]:
        """Return docs of some ranks, with the parts of their scores."""
        return [self._found(place) for place in range(first, min(last, len(self.docs)))]

    def _found(self, place: int) -> Found:
        doc = int(self.docs[place])
        why = {name: round(float(getattr(self.parts, name)[place]), 3) for name in fuse.Parts.__annotations__}
        return Found(
            doc=doc, kind=KINDS[self.held.kinds[doc]], source=int(self.held.sources[doc]),
            session=int(self.held.session_of[doc]), score=float(self.scores[place]), cover=float(self.cover[place]),
            near=float(self.near[place]), rare=float(self.cover[place]) * self.weight, why=why,
        )  # fmt: skip

    def by_session(self) -> tuple[Result, Array]:
        """Return the best doc of each session, best session first, and the sessions' scores."""
        groups = self.held.session_of[self.docs]
        prior = self.weights.session * self.parts.session / self.weights.total
        pooled = fuse.pooled(self.scores - prior, groups, self.weights)
        sessions, places = np.unique(groups, return_index=True)  # the first of a group is its best
        scores = np.array([pooled[int(each)] for each in sessions]) + prior[places]
        order = np.argsort(-scores, kind="stable")
        return self.only(places[order]), scores[order]


def search(
    hub: Hub, asked: Question, mask: Array | None = None, weights: fuse.Weights | None = None, held: Shelf | None = None
) -> Result:  # fmt: skip
    """Return docs for a question, best first; a mask is of the docs of a shelf."""
    weights, held = weights or fuse.Weights(), held or shelf(hub)
    allowed = held.alive if mask is None else held.alive & mask
    words = lexical(held, _terms(held, asked), allowed)
    meaning = _meaning(hub, held, asked, allowed)
    docs = _candidates(held, words, meaning.scores, allowed)
    parts = _parts(held, words, meaning.scores, docs, asked, weights)
    result = Result(held, docs, parts, weights, meaning.models > 0)
    result.cover, result.near = words.cover[held.turn_of[docs]], meaning.near[docs]
    result.weight = sum(words.terms.values()) / rarest(held)
    result = result.only(np.argsort(-result.scores, kind="stable")[:_BEST])
    _look_closer(hub, held, result.docs, words, result.parts)
    result.scores = fuse.fused(result.parts, weights)
    return result.ordered()


def _look_closer(hub: Hub, held: Shelf, docs: Array, words: Lexical, parts: fuse.Parts) -> None:
    """Read the best exchanges and score the sentence in each that answers best."""
    said = [(place, int(doc)) for place, doc in enumerate(docs[:_READ]) if held.kinds[doc] < EXCHANGES]
    texts = exchanges.texts(hub.engine, [int(held.sources[doc]) for _, doc in said])
    seen = looks(words.terms, [texts.get(int(held.sources[doc]), "") for _, doc in said])
    for (place, doc), look in zip(said, seen, strict=True):
        parts.sentence[place] = look.sentence
        parts.statement[place] = look.statement and held.kinds[doc] == _PERSON


def _terms(held: Shelf, asked: Question) -> dict[str, list[str]]:
    """Return the terms each word of a question may stand as."""
    terms = {word: [word] for word in asked.words}
    for start in asked.beginnings:
        terms[start] = sorted({*terms.get(start, []), *held.beginning(start, _EXPANDED)})
    return terms


@value
class _Meaning:
    """How near each doc is to a question in meaning."""

    scores: Any  # the nearest as 1
    near: Any  # 1 and more: near enough to answer without a word in common
    models: int  # how many took part


def _meaning(hub: Hub, held: Shelf, asked: Question, allowed: Array) -> _Meaning:
    """Return how near each doc is in meaning; of a doc that has vectors of several models, by the best of these."""
    scores, nearness, judged = np.zeros(held.count, np.float32), np.zeros(held.count, np.float32), held.alive & False
    models = 0
    for row in _spaces(hub):
        space = dense.space(held, row["id"], row["dim"])
        model, asked_as = _read_by(hub, row["model"], asked.text) if len(space.docs) else _NOBODY
        if model is None or asked_as is None or len(asked_as) != space.dim:
            continue  # gone, silent, or another model by the same name
        docs, near = space.score(asked_as, allowed & ~judged)
        *known, sure = embedder.usual(model)
        models += 1
        if len(docs):
            mean, spread = space.usual(asked_as, (known[0], known[1]))
            above = np.maximum((near - mean) / (spread or 1.0), 0.0)
            judged[docs] = True
            nearness[docs], scores[docs] = above / sure, fuse.unit(above)
    return _Meaning(scores=scores, near=nearness, models=models)


def _read_by(hub: Hub, model: str, text: str) -> tuple[Embedder | None, Any]:
    """Return the embedder of a model and its vector of a text; nothing of one that is gone or does not answer."""
    try:
        found = embedder.of_model(model, hub.settings)
        return (found, found.embed([text])[0]) if found else _NOBODY
    except (ModelUnavailable, ModelRefused, ModelInvalid, MissingExtra, SettingsInvalid):
        return _NOBODY  # the other ways of scoring answer


def _spaces(hub: Hub) -> list[dict[str, Any]]:
    """Return the spaces of the models in use, that of the chosen one first."""
    chosen = embedder.name(hub.settings)
    if chosen == embedder.OFF:
        return []
    rows, wanted = segments.spaces(hub.engine), embedder.model(chosen, hub.settings)
    return sorted(rows, key=lambda row: (row["model"] != wanted, -row["id"]))


def _candidates(held: Shelf, words: Lexical, meaning: Array, allowed: Array) -> Array:
    """Return the docs worth a closer look."""
    if held.count <= _FEW:
        some: Array = np.flatnonzero(((words.turns[held.turn_of] > 0) | (meaning > 0)) & allowed)
        return some
    best = np.zeros(held.turns, bool)
    best[_best(words.turns, _BEST // 2)] = True
    answered = np.flatnonzero(best[held.turn_of])[: 8 * _BEST]
    found = np.unique(np.concatenate([_best(words.docs, _BEST), _best(meaning, _BEST), answered]))
    kept: Array = found[allowed[found]]
    return kept


def _best(scores: Array, count: int) -> Array:
    """Return the places of the highest scores above 0."""
    places = np.flatnonzero(scores)
    if len(places) <= count:
        return places
    return places[np.argpartition(-scores[places], count)[:count]]


def _parts(
    held: Shelf, words: Lexical, meaning: Array, docs: Array, asked: Question, weights: fuse.Weights
) -> fuse.Parts:  # fmt: skip
    said = np.where(held.kinds[docs] == _PERSON, 1.0, 1.0 - weights.person)
    return fuse.Parts(
        doc=fuse.unit(words.docs[docs]) * said, turn=fuse.unit(words.turns[held.turn_of[docs]]),
        meaning=meaning[docs], session=fuse.unit(words.sessions[held.session_of[docs]]),
        sentence=np.zeros(len(docs)), statement=np.zeros(len(docs)),
        time=_in_time(held.times[docs], asked),
    )  # fmt: skip


def _in_time(times: Array, asked: Question) -> Array:
    """Return 1 for what was said in the time a question speaks of; less where it is vague."""
    if asked.window is None:
        return np.zeros(len(times))
    since, until = asked.window.since, asked.window.until
    first = int(since.timestamp() * 1_000_000) if since else np.iinfo(np.int64).min
    last = int(until.timestamp() * 1_000_000) if until else np.iinfo(np.int64).max
    inside: Array = ((times >= first) & (times < last)) * (1.0 if asked.window.certain else 0.5)
    return inside
