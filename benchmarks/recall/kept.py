"""Cache the vectors of a slow embedder between runs, because the texts are always the same.

This changes only the time to index, not the results.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recall.data import CACHE
from engram.models import embedder
from engram.settings import Settings

Matrix = np.ndarray[Any, np.dtype[np.float32]]


class Kept:
    """An embedder with a cache on disk."""

    def __init__(self, settings: Settings) -> None:
        self.inner = embedder.load_embedder("minilm", settings)
        self.model, self.usual = self.inner.model, embedder.get_baseline(self.inner)
        self.path = CACHE / f"{self.model}.npz"
        self.known: dict[str, Any] = {}
        if self.path.exists():
            with np.load(self.path) as saved:
                self.known = dict(zip(saved["names"].tolist(), saved["vectors"], strict=True))
        self.new = 0

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one vector per text, calling the model only for texts that are not cached."""
        names = [hashlib.blake2b(text.encode(), digest_size=12).hexdigest() for text in texts]
        lacking = {name: text for name, text in zip(names, texts, strict=True) if name not in self.known}
        if lacking:
            self.known |= dict(zip(lacking, self.inner.embed(list(lacking.values())), strict=True))
            self.new += len(lacking)
            if self.new > 2000:
                self.keep()
        return np.array([self.known[name] for name in names], np.float32).reshape(len(names), -1)

    def keep(self) -> None:
        """Write the cache atomically."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = Path(f"{self.path}.part.npz")
        np.savez(part, names=np.array(list(self.known)), vectors=np.array(list(self.known.values()), np.float16))
        os.replace(part, self.path)
        self.new = 0


def offered(name: str) -> str:
    """Return the name of an embedder; for minilm, register and return the cached one."""
    if name != "minilm":
        return name
    embedder.register_embedder("minilm, kept", Kept)
    return "minilm, kept"
