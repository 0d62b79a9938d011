"""Embed what has no vectors yet: in small steps, after it is stored, in the order it was indexed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.hub import Hub
from engram.index.dense import coded
from engram.index.kinds import EXCHANGES
from engram.index.shelf import DOC
from engram.llm import embedder
from engram.store import exchanges, passages, segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.llm.embedder import Embedder

    Progress = Callable[[str, int, int], None]

_AT_ONCE = 512  # docs between two commits
_PIECE = 2000  # characters of a text that one vector stands for
_PIECES = 8  # vectors of one doc
_BREAK = re.compile(r"\n\s*\n|(?<=[.!?])\s")


def embed_all(hub: Hub, told: Progress | None = None, *, fast: bool = False) -> int:
    """Embed everything that waits, first with the bundled model or only with it; return how many docs that were."""
    count = 0
    for model in embedders(hub, fast=fast):
        done, total = 0, waiting(hub, model)
        while more := step(hub, model):
            done += more
            if told:
                told(f"embedded by {model.model}", done, max(total, done))
        count += done
    _tidy(hub)
    return count


def embed_some(hub: Hub, count: int) -> None:
    """Embed about so many docs with the bundled model: it does not make anybody wait."""
    for model in embedders(hub, fast=True):
        while count > 0 and (done := step(hub, model)):
            count -= done


def embedders(hub: Hub, *, fast: bool = False) -> list[Embedder]:
    """Return the models in use, the bundled one first: it serves until the better one has caught up."""
    names = dict.fromkeys([embedder.STATIC, embedder.name(hub.settings)])
    if embedder.OFF in names:
        return []
    return [embedder.load(each, hub.settings) for each in list(names)[: 1 if fast else None]]


def waiting(hub: Hub, model: Embedder) -> int:
    """Count the docs a model is still to embed."""
    return sum(row["count"] - row["through"] for row in _open(hub, model))


def _open(hub: Hub, model: Embedder) -> list[dict[str, Any]]:
    """Return the segments a model is still to embed; the bundled one leaves out what another has done."""
    spaces = {row["model"]: row["id"] for row in segments.spaces(hub.engine)}
    rows = segments.coverage(hub.engine, spaces.get(model.model, 0))
    found = [row for row in rows if row["through"] < row["count"]]
    if not found or embedder.model(embedder.name(hub.settings), hub.settings) == model.model:
        return found
    done = {row["id"] for space in spaces.values() for row in segments.coverage(hub.engine, space) if _whole(row)}
    return [row for row in found if row["id"] not in done]


def _whole(row: dict[str, Any]) -> bool:
    return bool(row["through"] >= row["count"])


def step(hub: Hub, model: Embedder) -> int:
    """Embed the next docs and return how many there were; nothing is held while the model works."""
    row = next(iter(_open(hub, model)), None)
    if row is None:
        return 0
    docs, texts = _texts(hub, row["id"], row["through"])
    vectors = model.embed(texts) if texts else model.embed(["nothing"])[:0]  # none, of the right dimension
    through = min(row["through"] + _AT_ONCE, row["count"])
    with hub.engine.transaction():
        segments.hold(hub.engine)
        space = _space(hub, model.model, vectors.shape[1])
        now = next((each for each in segments.coverage(hub.engine, space["id"]) if each["id"] == row["id"]), None)
        if now == row:  # else it was merged or embedded meanwhile
            places, codes = np.array(docs, DOC).tobytes(), coded(vectors).tobytes()
            segments.add_vectors(hub.engine, space["id"], row["id"], through, places, codes)
            if through == row["count"]:
                segments.drop_vectors(hub.engine, row["id"], space["id"])  # the older model's have served
    return int(through - row["through"])


def _space(hub: Hub, model: str, dim: int) -> dict[str, Any]:
    """Return the space of a model; where it has another dimension than before it is another model, and begins anew."""
    found = segments.space(hub.engine, model, dim, hub.now())
    if found["dim"] != dim:
        segments.drop_space(hub.engine, found["id"])
        found = segments.space(hub.engine, model, dim, hub.now())
    return found


def _texts(hub: Hub, segment: int, start: int) -> tuple[list[int], list[str]]:
    """Return the next docs of a segment that live, and their texts; a long one comes in pieces."""
    row = segments.columns(hub.engine, segment)
    if row is None:
        return [], []
    sources, kinds = np.frombuffer(row["sources"], "<i8"), np.frombuffer(row["kinds"], "u1")
    dead = np.frombuffer(row["dead"], "u1")
    chosen = [int(n) for n in range(start, min(start + _AT_ONCE, row["count"])) if not dead[n]]
    said = exchanges.by_id(hub.engine, [int(sources[n]) for n in chosen if kinds[n] < EXCHANGES])
    made = passages.by_id(hub.engine, [int(sources[n]) for n in chosen if kinds[n] >= EXCHANGES])
    docs, texts = [], []
    for number in chosen:
        held: dict[int, Any] = said if kinds[number] < EXCHANGES else made
        source = held.get(int(sources[number]))
        for piece in pieces(source["content"]) if source else ():
            docs.append(number)
            texts.append(piece)
    return docs, texts


def pieces(text: str) -> list[str]:
    """Return a text in pieces a model can take in, cut where a sentence or paragraph ends; only so many."""
    found: list[str] = []
    start = 0
    while start < len(text) and len(found) < _PIECES:
        end = start + _PIECE
        if end < len(text):
            breaks = [each.end() for each in _BREAK.finditer(text, start + _PIECE // 2, end)]
            end = breaks[-1] if breaks else end
        found.append(text[start:end])
        start = end
    return found or [text]


def _tidy(hub: Hub) -> None:
    """Forget the spaces no vector lies in any more."""
    used = {embedder.model(each, hub.settings) for each in (embedder.STATIC, embedder.name(hub.settings))}
    for row in segments.spaces(hub.engine):
        if row["model"] not in used and not any(each["through"] for each in segments.coverage(hub.engine, row["id"])):
            with hub.engine.transaction():
                segments.drop_space(hub.engine, row["id"])
