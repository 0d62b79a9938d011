"""Embed docs that have no vectors yet: in small steps, after they are stored, in the order they were indexed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.hub import Hub
from engram.index.coverage import list_unembedded_segments
from engram.index.dense import quantize_vectors
from engram.index.doc_kinds import EXCHANGES
from engram.index.snapshot import DOC
from engram.models import embedder
from engram.store import exchanges, index_segments, passages

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.models.embedder import Embedder

    Progress = Callable[[str, int, int], None]

_AT_ONCE = 512  # docs per commit
_PIECE = 2000  # characters of text per vector
_PIECES = 8  # maximum vectors per doc
_BREAK = re.compile(r"\n\s*\n|(?<=[.!?])\s")


def embed_all(hub: Hub, progress: Progress | None = None, *, fast: bool = False) -> int:
    """Embed all docs that have no vectors, first or only with the bundled model; return their number."""
    count = 0
    for model in load_embedders(hub, fast=fast):
        embedded, total = 0, count_unembedded(hub, model)
        while more := embed_next_docs(hub, model):
            embedded += more
            if progress:
                progress(f"embedded by {model.model}", embedded, max(total, embedded))
        count += embedded
    _delete_unused_spaces(hub)
    return count


def embed_some(hub: Hub, count: int) -> None:
    """Embed about this many docs with the bundled model, which is fast."""
    for model in load_embedders(hub, fast=True):
        while count > 0 and (embedded := embed_next_docs(hub, model)):
            count -= embedded


def load_embedders(hub: Hub, *, fast: bool = False) -> list[Embedder]:
    """Return the models in use, the bundled one first: it serves until the better one has caught up."""
    names = dict.fromkeys([embedder.STATIC, embedder.get_embedder_name(hub.settings)])
    if embedder.OFF in names:
        return []
    return [embedder.load_embedder(model_name, hub.settings) for model_name in list(names)[: 1 if fast else None]]


def count_unembedded(hub: Hub, model: Embedder) -> int:
    """Count the docs a model still has to embed."""
    return sum(row["count"] - row["through"] for row in list_unembedded_segments(hub, model.model))


def embed_next_docs(hub: Hub, model: Embedder) -> int:
    """Embed the next docs and return their number; no lock is held while the model runs."""
    row = next(iter(list_unembedded_segments(hub, model.model)), None)
    if row is None:
        return 0
    docs, texts = _read_texts(hub, row["id"], row["through"])
    vectors = model.embed(texts) if texts else model.embed(["nothing"])[:0]  # an empty array of the right dimension
    through = min(row["through"] + _AT_ONCE, row["count"])
    with hub.engine.transaction():
        index_segments.lock_index(hub.engine)
        space = _get_space(hub, model.model, vectors.shape[1])
        now = next(
            (
                coverage
                for coverage in index_segments.list_coverage(hub.engine, space["id"])
                if coverage["id"] == row["id"]
            ),
            None,
        )
        if now == row:  # else it was merged or embedded in the meantime
            doc_bytes, codes = np.array(docs, DOC).tobytes(), quantize_vectors(vectors).tobytes()
            index_segments.add_vectors(hub.engine, space["id"], row["id"], through, doc_bytes, codes)
            if through == row["count"]:
                index_segments.delete_other_vectors(hub.engine, row["id"], space["id"])  # of older models
    return int(through - row["through"])


def _get_space(hub: Hub, model: str, dim: int) -> dict[str, Any]:
    """Return the vector space of a model; a different dimension means a different model, which starts over."""
    space = index_segments.get_or_add_space(hub.engine, model, dim, hub.now())
    if space["dim"] != dim:
        index_segments.delete_space(hub.engine, space["id"])
        space = index_segments.get_or_add_space(hub.engine, model, dim, hub.now())
    return space


def _read_texts(hub: Hub, segment: int, start: int) -> tuple[list[int], list[str]]:
    """Return the next live docs of a segment and their texts; long texts are split."""
    row = index_segments.read_segment(hub.engine, segment)
    if row is None:
        return [], []
    sources, kinds = np.frombuffer(row["sources"], "<i8"), np.frombuffer(row["kinds"], "u1")
    dead = np.frombuffer(row["dead"], "u1")
    chosen = [int(n) for n in range(start, min(start + _AT_ONCE, row["count"])) if not dead[n]]
    exchange_rows = exchanges.fetch_by_ids(hub.engine, [int(sources[n]) for n in chosen if kinds[n] < EXCHANGES])
    passage_rows = passages.fetch_by_ids(hub.engine, [int(sources[n]) for n in chosen if kinds[n] >= EXCHANGES])
    docs, texts = [], []
    for number in chosen:
        rows: dict[int, Any] = exchange_rows if kinds[number] < EXCHANGES else passage_rows
        source = rows.get(int(sources[number]))
        for piece in split_text(source["content"]) if source else ():
            docs.append(number)
            texts.append(piece)
    return docs, texts


def split_text(text: str) -> list[str]:
    """Split a text into pieces a model accepts, at the ends of sentences or paragraphs; at most a few."""
    parts: list[str] = []
    start = 0
    while start < len(text) and len(parts) < _PIECES:
        end = start + _PIECE
        if end < len(text):
            breaks = [match.end() for match in _BREAK.finditer(text, start + _PIECE // 2, end)]
            end = breaks[-1] if breaks else end
        parts.append(text[start:end])
        start = end
    return parts or [text]


def _delete_unused_spaces(hub: Hub) -> None:
    """Delete spaces without vectors."""
    used = {
        embedder.get_model_name(item, hub.settings)
        for item in (embedder.STATIC, embedder.get_embedder_name(hub.settings))
    }
    for row in index_segments.list_spaces(hub.engine):
        if row["model"] not in used and not any(
            item["through"] for item in index_segments.list_coverage(hub.engine, row["id"])
        ):
            with hub.engine.transaction():
                index_segments.delete_space(hub.engine, row["id"])
