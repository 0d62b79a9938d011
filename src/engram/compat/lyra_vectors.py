"""Keep vectors that come with texts if the model in use made them, so that nothing is embedded twice.

The model of a vector is not recorded. So one text is embedded again, and only if that gives the same vector are the
others trusted.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.errors import Error
from engram.index import embedding as embed
from engram.index.maintenance import update_index
from engram.models import embedder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engram.hub import Hub
    from engram.models.embedder import Embedder

    Vectors = Mapping[str, Sequence[float]]

_MIN_SIMILARITY = 0.98  # cosine: APIs do not repeat the last digits
_log = logging.getLogger(__name__)


def keep_vectors(hub: Hub, vectors: Vectors) -> None:
    """Store the vectors of texts that were just stored, or log why not."""
    unsplit_vectors = {text: vector for text, vector in vectors.items() if embed.split_text(text) == [text]}
    if not unsplit_vectors:
        return
    try:
        model = _find_matching_model(hub, unsplit_vectors)
        if model is None:
            _log.info("%s vectors were skipped: another model made them. The texts are embedded again.", len(vectors))
            return
        update_index(hub, embed=False)
        precomputed = _PrecomputedEmbedder(model, unsplit_vectors)
        while precomputed.remaining and embed.embed_next_docs(hub, precomputed):
            pass
    except Error as problem:
        _log.info("%s vectors were skipped: %s The texts are embedded later.", len(vectors), problem)


def _find_matching_model(hub: Hub, vectors: Vectors) -> Embedder | None:
    """Return the model in use if it made these vectors."""
    name = embedder.get_embedder_name(hub.settings)
    if name == embedder.OFF or len({len(vector) for vector in vectors.values()}) > 1:
        return None
    model = embedder.load_embedder(name, hub.settings)
    text, vector = next(iter(vectors.items()))
    own_vector, given_vector = model.embed([text])[0], np.asarray(vector, np.float32)
    if own_vector.shape != given_vector.shape:
        return None
    similarity = float(own_vector @ given_vector) / (
        float(np.linalg.norm(own_vector) * np.linalg.norm(given_vector)) or 1.0
    )
    return model if similarity >= _MIN_SIMILARITY else None


class _PrecomputedEmbedder:
    """The model in use, not called for texts whose vectors are given."""

    def __init__(self, model: Embedder, vectors: Vectors) -> None:
        self.model, self._model = model.model, model
        self.remaining = dict(vectors)

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return the vectors of texts: the given ones, and the model's for the others."""
        unknown = [text for text in texts if text not in self.remaining]
        new_vectors = dict(zip(unknown, self._model.embed(unknown), strict=True)) if unknown else {}
        vectors = [
            np.asarray(new_vectors[text] if text in new_vectors else self.remaining[text], np.float32) for text in texts
        ]
        for text in texts:
            self.remaining.pop(text, None)
        return np.stack(vectors)
