"""The bundled embedder: one vector per word piece, averaged. Distilled from all-MiniLM-L6-v2 (Apache-2.0)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from engram.llm.wordpiece import UNKNOWN, WEIGHTS, WordPiece

_LONGEST = 512  # pieces of a text

Matrix = np.ndarray[Any, np.dtype[np.float32]]


class StaticEmbedder:
    """Looks vectors up and averages them: thousands of texts a second on one core."""

    model = "engram-static-1"
    usual = (0.09, 0.11, 4.0)

    def __init__(self) -> None:
        self._codes = np.load(os.path.join(WEIGHTS, "static_codes.npy"), mmap_mode="r")
        self._scales = np.load(os.path.join(WEIGHTS, "static_scales.npy"))
        self._pieces = WordPiece()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector of length 1 for each text; of one without words, all zeros."""
        found = np.zeros((len(texts), self._codes.shape[1]), np.float32)
        for row, text in enumerate(texts):
            pieces = [each for each in self._pieces(text, _LONGEST) if each != UNKNOWN]
            if pieces:
                found[row] = self._scales[pieces] @ self._codes[pieces].astype(np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        found /= np.where(lengths > 0, lengths, 1)
        return found
