"""Vectors of a slow model, kept between runs: the same texts are asked of it again and again.

Only the time to index changes by it, never what is found.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recall.data import CACHE
from engram.llm import embedder as embedders
from engram.settings import Settings

Matrix = np.ndarray[Any, np.dtype[np.float32]]


class Kept:
    """An embedder that remembers what it was asked."""

    def __init__(self, settings: Settings) -> None:
        self.inner = embedders.load("minilm", settings)
        self.model, self.usual = self.inner.model, embedders.usual(self.inner)
        self.path = CACHE / f"{self.model}.npz"
        self.known: dict[str, Any] = {}
        if self.path.exists():
            with np.load(self.path) as found:
                self.known = dict(zip(found["names"].tolist(), found["vectors"], strict=True))
        self.new = 0

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector for each text, asking the model only for those it was not asked before."""
        names = [hashlib.blake2b(text.encode(), digest_size=12).hexdigest() for text in texts]
        lacking = {name: text for name, text in zip(names, texts, strict=True) if name not in self.known}
        if lacking:
            self.known |= dict(zip(lacking, self.inner.embed(list(lacking.values())), strict=True))
            self.new += len(lacking)
            if self.new > 2000:
                self.keep()
        return np.array([self.known[name] for name in names], np.float32).reshape(len(names), -1)

    def keep(self) -> None:
        """Write what is known, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = Path(f"{self.path}.part.npz")
        np.savez(part, names=np.array(list(self.known)), vectors=np.array(list(self.known.values()), np.float16))
        os.replace(part, self.path)
        self.new = 0


def offered(name: str) -> str:
    """Return the name of an embedder, a slow one with its vectors kept."""
    if name != "minilm":
        return name
    embedders.offer("minilm, kept", Kept)
    return "minilm, kept"
