"""The bundled embedder: one vector per word piece, averaged. Distilled from all-MiniLM-L6-v2 (Apache-2.0)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from engram.models.wordpiece import UNKNOWN, WEIGHTS, WordPiece

_LONGEST = 512  # pieces of a text

Matrix = np.ndarray[Any, np.dtype[np.float32]]


class StaticEmbedder:
    """Looks up vectors and averages them: thousands of texts per second on one core."""

    model = "engram-static-1"
    usual = (0.09, 0.11, 4.0)

    def __init__(self) -> None:
        self._codes = np.load(os.path.join(WEIGHTS, "static_codes.npy"), mmap_mode="r")
        self._scales = np.load(os.path.join(WEIGHTS, "static_scales.npy"))
        self._pieces = WordPiece()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector for each text; zeros for a text without words."""
        vectors = np.zeros((len(texts), self._codes.shape[1]), np.float32)
        for row, text in enumerate(texts):
            pieces = [piece for piece in self._pieces(text, _LONGEST) if piece != UNKNOWN]
            if pieces:
                vectors[row] = self._scales[pieces] @ self._codes[pieces].astype(np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
        return vectors
