"""Vectors that come with texts: kept where the model in use made them, so that nothing is embedded twice.

Nobody writes down which model made a vector. So one text is embedded again, and only if that gives the same vector are
the others believed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.errors import Error
from engram.index import embed
from engram.index.index import bring_up_to_date
from engram.llm import embedder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engram.hub import Hub
    from engram.llm.embedder import Embedder

    Vectors = Mapping[str, Sequence[float]]

_SAME = 0.98  # cosine: APIs do not give the last digits twice
_log = logging.getLogger(__name__)


def keep_vectors(hub: Hub, vectors: Vectors) -> None:
    """Keep the vectors of texts that were just stored, or say in the log why not."""
    whole = {text: vector for text, vector in vectors.items() if embed.pieces(text) == [text]}
    if not whole:
        return
    try:
        model = _model_of(hub, whole)
        if model is None:
            _log.info("%s vectors were left out: another model made them. The texts are embedded anew.", len(vectors))
            return
        bring_up_to_date(hub, embed=False)
        given = _Given(model, whole)
        while given.left and embed.step(hub, given):
            pass
    except Error as problem:
        _log.info("%s vectors were left out: %s The texts are embedded later.", len(vectors), problem)


def _model_of(hub: Hub, vectors: Vectors) -> Embedder | None:
    """Return the model in use if it made these vectors."""
    name = embedder.name(hub.settings)
    if name == embedder.OFF or len({len(vector) for vector in vectors.values()}) > 1:
        return None
    model = embedder.load(name, hub.settings)
    text, vector = next(iter(vectors.items()))
    own, given = model.embed([text])[0], np.asarray(vector, np.float32)
    if own.shape != given.shape:
        return None
    near = float(own @ given) / (float(np.linalg.norm(own) * np.linalg.norm(given)) or 1.0)
    return model if near >= _SAME else None


class _Given:
    """The model in use, which need not be asked about texts whose vectors are here."""

    def __init__(self, model: Embedder, vectors: Vectors) -> None:
        self.model, self._model = model.model, model
        self.left = dict(vectors)

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return the vectors of texts: those that are here, and what the model says of the others."""
        unknown = [text for text in texts if text not in self.left]
        made = dict(zip(unknown, self._model.embed(unknown), strict=True)) if unknown else {}
        found = [np.asarray(made[text] if text in made else self.left[text], np.float32) for text in texts]
        for text in texts:
            self.left.pop(text, None)
        return np.stack(found)
